/**
 * Asks the collectors of an agent how events flow: an effect, because no cache holds it. The next turn reads what was found.
 *
 * Invariant: reads only, and holds up no turn. Collectors that are there answer in a moment; for others a turn does not wait: what they
 * said, or that they did not, is found two seconds later.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { defineEffect, type Effect, type EffectHandler, type EffectOutcome } from '@keelson/runtime';
import type { LogSource } from '../source.ts';
import { type Asking, askAll, reachPod } from './ask.ts';
import type { Collectors } from './collectors.ts';
import { type Findings, hasTrouble, isSuspect, judge, type Memory, type Round } from './judge.ts';
import type { ReadTool } from './tools.ts';

/** The handler and the only effect of it. */
export const PIPELINE_HEALTH = 'pipeline-health';

interface Inquiry extends Pick<Collectors, 'asked' | 'nodes'> {
  readonly tools: readonly ReadTool[];
}

/** What a run comes to. */
export interface Inquest {
  /** Of the last round that is complete. */
  readonly findings?: Findings;
  /** Some have yet to answer. */
  readonly isPending: boolean;
}

/** As long a turn waits for answers. */
const WAIT_MS = 250;
/** Pods come and go, each with a turn: this often is enough. */
const PAUSE_MS = 5_000;

const standard: Asking = { reach: reachPod, patienceMs: 2_000 };

/** The handler; collectors are asked at their pods unless told otherwise. */
export function createHealthCheck(asking: Partial<Asking> = {}): EffectHandler {
  const how = { ...standard, ...asking };
  return defineEffect<Inquiry>(async (inquiry, { signal, memory }): Promise<Inquest> => {
    const last = memory.get('judged') as ReturnType<typeof judge> | undefined;
    const at = Date.now();
    const isDue = last === undefined || last.findings.asked.node === 0 || Math.abs(at - last.memory.at) >= PAUSE_MS;
    const underWay = memory.get('asking') as Promise<Round> | undefined;
    const round = underWay ?? (isDue ? askRound(inquiry, at, how) : undefined);
    if (round === undefined) return toInquest(last, false);
    const complete = await Promise.race([round, sleep(WAIT_MS, undefined, { signal })]);
    if (complete === undefined) {
      memory.set('asking', round);
      return toInquest(last, true);
    }
    const judged = judge(last?.memory, complete);
    memory.set('judged', judged);
    memory.delete('asking');
    return toInquest(judged, false);
  });
}

/** Not bound to the turn that began it, which may be over before the last has answered. */
async function askRound({ asked, nodes, tools }: Inquiry, at: number, how: Asking): Promise<Round> {
  return { at, asked, nodes, tools, answers: await askAll(asked, how) };
}

function toInquest(
  judged: { readonly findings: Findings; readonly memory: Memory } | undefined,
  isPending: boolean,
): Inquest {
  return { ...(judged === undefined ? {} : { findings: judged.findings }), isPending };
}

/** The effect that an agent with a pipeline asks for. */
export function healthEffect(
  { asked, nodes }: Collectors,
  sources: readonly LogSource[],
  outcome: EffectOutcome | undefined,
): Effect {
  const input: Inquiry = { asked, nodes, tools: sources.map(({ tool, index }) => ({ tool, index })) };
  return { handler: PIPELINE_HEALTH, key: PIPELINE_HEALTH, input, every: paceOf(outcome), timeout: '5s' };
}

/** What was found last; undefined when nobody has looked yet, as after a restart. */
export function findingsOf(outcome: EffectOutcome | undefined): Findings | undefined {
  return outcome?.state === 'done' ? (outcome.result as Inquest).findings : undefined;
}

/** Closer when something seems wrong, so that it is known within a minute; rarely where nobody can be asked. */
function paceOf(outcome: EffectOutcome | undefined): '2s' | '10s' | '20s' | '1m' {
  const { findings, isPending } = (outcome?.state === 'done' ? outcome.result : {}) as Partial<Inquest>;
  if (isPending === true) return '2s';
  if (findings === undefined) return '20s';
  const { asked, answered, links } = findings;
  if (asked.node + asked.gateway > 0 && answered.node + answered.gateway === 0) return '1m';
  return isSuspect(links) || Object.values(links).some(hasTrouble) ? '10s' : '20s';
}
