/**
 * Asks the collectors of an agent how events flow: an effect, because it is outside of what the caches hold, and takes time. The next
 * turn reads what was found.
 *
 * Invariant: reads only. A turn waits a second for it at most, however many collectors do not answer, and not again within five.
 */
import { defineEffect, type Effect, type EffectHandler, type EffectOutcome } from '@keelson/runtime';
import type { LogSource } from '../source.ts';
import { type Asking, askAll, reachPod } from './ask.ts';
import type { Collectors } from './collectors.ts';
import { type Findings, hasTrouble, isSuspect, judge, type Memory } from './judge.ts';
import type { ReadTool } from './tools.ts';

/** The handler and the only effect of it. */
export const PIPELINE_HEALTH = 'pipeline-health';

interface Inquiry extends Pick<Collectors, 'asked' | 'nodes'> {
  readonly tools: readonly ReadTool[];
}

/** Pods come and go, each with a turn: this often is enough. */
const PAUSE_MS = 5_000;

const standard: Asking = { reach: reachPod, patienceMs: 1_000 };

/** The handler; collectors are asked at their pods unless told otherwise. */
export function createHealthCheck(asking: Partial<Asking> = {}): EffectHandler {
  const how = { ...standard, ...asking };
  return defineEffect<Inquiry>(async ({ asked, nodes, tools }, { signal, memory }): Promise<Findings> => {
    const last = memory.get(PIPELINE_HEALTH) as { memory: Memory; findings: Findings } | undefined;
    const at = Date.now();
    if (last !== undefined && at >= last.memory.at && at - last.memory.at < PAUSE_MS) return last.findings;
    const answers = await askAll(asked, how, signal);
    const judged = judge(last?.memory, { at, asked, answers, nodes, tools });
    memory.set(PIPELINE_HEALTH, judged);
    return judged.findings;
  });
}

/** The effect that an agent with a pipeline asks for. */
export function healthEffect(
  { asked, nodes }: Collectors,
  sources: readonly LogSource[],
  outcome: EffectOutcome | undefined,
): Effect {
  const input: Inquiry = { asked, nodes, tools: sources.map(({ tool, index }) => ({ tool, index })) };
  return { handler: PIPELINE_HEALTH, key: PIPELINE_HEALTH, input, every: paceOf(findingsOf(outcome)), timeout: '5s' };
}

/** What was found last; undefined when nobody has looked yet, as after a restart. */
export function findingsOf(outcome: EffectOutcome | undefined): Findings | undefined {
  return outcome?.state === 'done' ? (outcome.result as Findings) : undefined;
}

/** Closer when something seems wrong, so that it is known within a minute; rarely where nobody can be asked. */
function paceOf(findings: Findings | undefined): '10s' | '20s' | '1m' {
  if (findings === undefined) return '20s';
  const { asked, answered, links } = findings;
  if (asked.node + asked.gateway > 0 && answered.node + answered.gateway === 0) return '1m';
  return isSuspect(links) || Object.values(links).some(hasTrouble) ? '10s' : '20s';
}
