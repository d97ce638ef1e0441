/**
 * The end of an instance. Called while an instance is being deleted and carries our finalizer.
 *
 * Invariant: it cannot wedge. Whatever is invalid, stuck, unreachable or broken, the instance goes at the latest after the
 * operator's `finalizeDeadline`; what could not be cleaned up by then is named in a Warning event. Children that garbage
 * collection reaches need nothing from here.
 */
import { formatProblems, parseInstance, type Resource, toMilliseconds } from '@keelson/schema';
import { removeChild } from '../execute/remove.ts';
import { isReachable } from '../marks.ts';
import type { Child } from '../plan/plan.ts';
import { collectOwned, observe } from '../reconciler/observe.ts';
import { runEffects } from '../reconciler/perform.ts';
import type { Turn } from '../reconciler/turn.ts';
import { describeLeaving, listed } from '../status/judge.ts';
import { dropFinalizer, isOrphaning } from './finalizer.ts';
import { releaseChildren } from './orphan.ts';

/** What keeps an instance from going. */
export interface Pending {
  readonly reason: string;
  readonly message: string;
  readonly recheckAfterMs: number;
}

/** Cleans up and lets the instance go; or says what it still waits for. `since` is when this process first tried. */
export async function finalize<R extends Resource, X>(turn: Turn<R, X>, since: number): Promise<Pending | undefined> {
  const asked = Date.parse(turn.self.object.metadata.deletionTimestamp ?? '');
  // An operator that was away while the deadline passed still gets its time to clean up.
  const deadline = Math.max(asked, since) + toMilliseconds(turn.engine.operator.finalizeDeadline);
  const leftMs = deadline - turn.now.getTime();
  let pending: Pending | undefined;
  try {
    pending = await cleanUp(turn);
  } catch (error) {
    if (leftMs > 0 || turn.signal.aborted) throw error;
    const message = turn.redactor.text(error instanceof Error ? error.message : String(error));
    pending = { reason: 'CleanupFailed', message, recheckAfterMs: 0 };
  }
  if (pending !== undefined && leftMs > 0) {
    return { ...pending, recheckAfterMs: Math.min(pending.recheckAfterMs, leftMs) };
  }
  if (pending !== undefined)
    warn(turn, 'CleanupAbandoned', `gave up after ${turn.engine.operator.finalizeDeadline}: ${pending.message}`);
  await dropFinalizer(turn);
  return undefined;
}

async function cleanUp<R extends Resource, X>(turn: Turn<R, X>): Promise<Pending | undefined> {
  const owned = collectOwned(turn);
  if (isOrphaning(turn.self.object)) {
    await releaseChildren(turn, owned);
    return undefined;
  }
  return (await finishOutside(turn, owned)) ?? (await removeUnreachable(turn, owned));
}

/** What the operator itself wants done first. */
async function finishOutside<R extends Resource, X>(
  turn: Turn<R, X>,
  owned: readonly Child[],
): Promise<Pending | undefined> {
  const { operator, effects } = turn.engine;
  if (operator.finalize === undefined) return undefined;
  const parsed = parseInstance(operator.resource, turn.self.object);
  if (!parsed.ok) {
    warn(
      turn,
      'FinalizeSkipped',
      `what ${operator.name} keeps outside the cluster was not cleaned up, because the spec is invalid: ${formatProblems(parsed.problems)}`,
    );
    return undefined;
  }
  const finalization = operator.finalize(await observe(turn, parsed.instance, owned));
  const report = await runEffects(turn, finalization.effects ?? []);
  if (!report.done) {
    const failed = [...effects.outcomes(turn.owner.uid)].flatMap(([key, outcome]) =>
      outcome.state === 'failed' ? [`${key}: ${outcome.message}`] : [],
    );
    return { reason: 'Finalizing', message: listed(failed), recheckAfterMs: report.dueInMs ?? 0 };
  }
  if (finalization.wait === undefined) return undefined;
  const { reason, message, recheckAfter } = finalization.wait;
  return { reason, message, recheckAfterMs: toMilliseconds(recheckAfter) };
}

/** Deletes what garbage collection would leave behind, and waits until it is gone. Its watch wakes us before the recheck. */
async function removeUnreachable(turn: Turn, owned: readonly Child[]): Promise<Pending | undefined> {
  const left: string[] = [];
  for (const { kind, live } of owned) {
    if (isReachable(turn.owner, kind, live.object.metadata.namespace)) continue;
    const removal = await removeChild(turn, kind, live.object);
    if (removal.left !== undefined) left.push(describeLeaving({ kind, live: removal.left }));
  }
  return left.length === 0 ? undefined : { reason: 'Terminating', message: listed(left), recheckAfterMs: 30_000 };
}

function warn(turn: Turn, reason: string, message: string): void {
  turn.engine.recorder.record(turn.self.object, { type: 'Warning', reason, message, action: 'Finalize' });
}
