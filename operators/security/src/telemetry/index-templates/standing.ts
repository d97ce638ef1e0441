/**
 * How the index templates stand, in words: the condition `IndexTemplatesReady` and a line in `status.pipeline`.
 *
 * The condition says what the *store* said: in place, or refused and why. A store that the operator does not reach has said nothing. It
 * may be reached by the collectors all the same (they run elsewhere, under other network policies), and templates do not go while a
 * store is away: so the last word stands, there is none if there never was one, and only the line tells. No feature depends on it: an
 * agent is Ready without.
 */
import type { ConditionNote, EffectOutcome, EventNote } from '@keelson/runtime';
import type { Agent } from '../../resource.ts';
import { storeOf } from '../../store.ts';
import type { Installed } from './install.ts';

const CONDITION = 'IndexTemplatesReady';

export interface Standing {
  readonly conditions: readonly ConditionNote[];
  /** For `status.pipeline.templates`. */
  readonly text?: string;
  readonly events: readonly EventNote[];
}

/** Where nothing is installed, nobody writes to a store. */
export const noStanding: Standing = { conditions: [], events: [] };

/** Out of how the effect ended, if it has. */
export function templateStanding({ spec, status }: Agent, outcome: EffectOutcome | undefined): Standing {
  const store = storeOf(spec.output);
  if (store === undefined) return noStanding;
  if (store.manageTemplates === false)
    return { ...noStanding, text: `not managed: ${store.path}.manageTemplates is false` };
  if (outcome === undefined) return { ...before(status), events: [] };
  if (outcome.state === 'done') return inPlace(outcome.result as Installed);
  const { reason, message } = split(outcome.message);
  const text = `not in place: ${message}`;
  // Of a Secret that is missing the features tell that wait for it.
  if (reason === 'Unreachable' || reason === 'SecretMissing') {
    const note = {
      type: 'Warning',
      reason: 'IndexTemplatesDelayed',
      message: `index templates wait: ${message}`,
    } as const;
    const { conditions } = before(status);
    return { conditions, events: [note], text: conditions.length === 0 ? text : `as they were: ${message}` };
  }
  return { conditions: [{ type: CONDITION, status: 'False', reason, message }], events: [], text };
}

function inPlace({ templates, remarks }: Installed): Standing {
  const message = [`${templates.length} index templates are in place`, ...remarks].join('; ');
  const reason = remarks.length === 0 ? 'InPlace' : 'InPlaceWithRemarks';
  return { conditions: [{ type: CONDITION, status: 'True', reason, message }], events: [], text: message };
}

/** What was said before: outcomes are forgotten when the operator restarts. */
function before(status: Agent['status']): Omit<Standing, 'events'> {
  const said = status?.conditions?.find(({ type }) => type === CONDITION);
  const text = status?.pipeline?.templates;
  return {
    conditions:
      said === undefined ? [] : [{ type: CONDITION, status: said.status, reason: said.reason, message: said.message }],
    ...(text === undefined ? {} : { text }),
  };
}

/** `Forbidden: the account …`; what is not ours, such as a timeout of the engine, is a store that does not answer. */
function split(text: string): { readonly reason: string; readonly message: string } {
  const [, reason, message] = /^([A-Z][A-Za-z]+): (.*)$/s.exec(text) ?? [];
  return reason === undefined || message === undefined ? { reason: 'Unreachable', message: text } : { reason, message };
}
