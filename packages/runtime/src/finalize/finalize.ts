/**
 * The end of an instance. Called while an instance is being deleted and carries our finalizer.
 *
 * Invariant: it cannot wedge. Whatever is invalid, stuck, unreachable or broken, the instance goes at the latest after the
 * operator's `finalizeDeadline`; what could not be cleaned up by then is named in a Warning event. Children that garbage
 * collection reaches need nothing from here.
 */
import { formatProblems, type Resource, toMilliseconds } from '@keelson/schema';
import type { Finalization } from '../decision.ts';
import { removeChild } from '../execute/remove.ts';
import { isReachable } from '../marks.ts';
import { compareApplyOrder } from '../plan/order.ts';
import type { Child } from '../plan/plan.ts';
import { collectOwned, observe } from '../reconciler/observe.ts';
import { runEffects } from '../reconciler/perform.ts';
import type { Turn } from '../reconciler/turn.ts';
import { accepted, describeLeaving, listed } from '../status/judge.ts';
import { nextStatus, type StatusInput } from '../status/next.ts';
import { writeStatus } from '../status/write.ts';
import { dropFinalizer, isOrphaning } from './finalizer.ts';
import { releaseChildren } from './orphan.ts';
import { tryAll } from './try-all.ts';

/** What keeps an instance from going. */
export interface Pending {
  readonly reason: string;
  readonly message: string;
  readonly recheckAfterMs: number;
  /** What the operator has to say meanwhile. */
  readonly status?: Finalization['status'];
}

/** Cleans up and lets the instance go; or says what it still waits for. `since` is when this process first tried. */
export async function finalize<R extends Resource, X>(turn: Turn<R, X>, since: number): Promise<Pending | undefined> {
  const asked = Date.parse(turn.self.object.metadata.deletionTimestamp ?? '');
  // An operator that was away while the deadline passed still gets its time to clean up.
  const deadline = Math.max(asked, since) + toMilliseconds(turn.engine.operator.finalizeDeadline);
  const leftMs = deadline - turn.now.getTime();
  const pending = await cleanUp(turn, leftMs <= 0);
  if (pending !== undefined && leftMs > 0) {
    return { ...pending, recheckAfterMs: Math.min(pending.recheckAfterMs, leftMs) };
  }
  if (pending !== undefined)
    warn(turn, 'CleanupAbandoned', `gave up after ${turn.engine.operator.finalizeDeadline}: ${pending.message}`);
  await dropFinalizer(turn);
  return undefined;
}

/** What is outside first, then the children, then the last words. Past the deadline each gets a last try, whatever the others do. */
async function cleanUp<R extends Resource, X>(turn: Turn<R, X>, isLate: boolean): Promise<Pending | undefined> {
  // What went with its kind is gone, whatever the cache still shows.
  const owned = collectOwned(turn).filter(({ kind }) => turn.engine.stores.served(kind));
  const attempt = isLate ? lastTry : (_: Turn, work: () => Promise<Pending | undefined>) => work();
  if (isOrphaning(turn.self.object)) return attempt(turn, () => releaseChildren(turn, owned));
  let wish: Finalization<R> = {};
  const outside = await attempt(turn, async () => {
    wish = (await askOperator(turn, owned)) ?? wish;
    return finishOutside(turn, wish);
  });
  const { status } = wish;
  const told = status === undefined ? {} : { status };
  if (outside !== undefined && !isLate) return { ...outside, ...told };
  const children = await attempt(turn, () => removeChildren(turn, owned, wish.children === 'first'));
  if (children !== undefined && !isLate) return { ...children, ...told };
  const words = status === undefined ? undefined : await attempt(turn, () => sayLast(turn, status));
  return outside ?? children ?? words;
}

/** There is no time left: what fails now is what is left behind. */
async function lastTry(turn: Turn, work: () => Promise<Pending | undefined>): Promise<Pending | undefined> {
  try {
    return await work();
  } catch (error) {
    if (turn.signal.aborted) throw error;
    const message = turn.redactor.text(error instanceof Error ? error.message : String(error));
    return { reason: 'CleanupFailed', message, recheckAfterMs: 0 };
  }
}

/** What the operator itself wants done. */
async function askOperator<R extends Resource, X>(
  turn: Turn<R, X>,
  owned: readonly Child[],
): Promise<Finalization<R> | undefined> {
  const { operator } = turn.engine;
  if (operator.finalize === undefined) return undefined;
  const parsed = turn.engine.parse(turn.self.object);
  if (parsed.ok) return operator.finalize(await observe(turn, parsed.instance, owned));
  warn(
    turn,
    'FinalizeSkipped',
    `what ${operator.name} keeps outside the cluster was not cleaned up, because the spec is invalid: ${formatProblems(parsed.problems)}`,
  );
  return undefined;
}

async function finishOutside(turn: Turn, finalization: Finalization): Promise<Pending | undefined> {
  const report = await runEffects(turn, finalization.effects ?? []);
  if (!report.done) {
    const failed = [...turn.engine.effects.outcomes(turn.owner.uid)].flatMap(([key, outcome]) =>
      outcome.state === 'failed' ? [`${key}: ${outcome.message}`] : [],
    );
    return { reason: 'Finalizing', message: listed(failed), recheckAfterMs: report.dueInMs ?? 0 };
  }
  if (finalization.wait === undefined) return undefined;
  const { reason, message, recheckAfter } = finalization.wait;
  return { reason, message, recheckAfterMs: toMilliseconds(recheckAfter) };
}

/**
 * Deletes in reverse apply order what garbage collection would leave behind (or all there is), and waits until it is gone. Its
 * watch wakes us before the recheck.
 */
async function removeChildren(turn: Turn, owned: readonly Child[], all: boolean): Promise<Pending | undefined> {
  const left: string[] = [];
  const ours = owned.filter(({ kind, live }) => all || !isReachable(turn.owner, kind, live.object.metadata.namespace));
  const reversed = ours.toSorted((a, b) => compareApplyOrder(placeOf(b), placeOf(a)));
  await tryAll(turn, reversed, 'delete', async ({ kind, live }) => {
    const removal = await removeChild(turn, kind, live.object);
    if (removal.left !== undefined) left.push(describeLeaving({ kind, live: removal.left }));
  });
  return left.length === 0 ? undefined : { reason: 'Terminating', message: listed(left), recheckAfterMs: 30_000 };
}

function placeOf({ kind, live }: Child) {
  const { name, namespace } = live.object.metadata;
  return { kind, name, namespace };
}

/** The last words of the operator: somebody may still be looking when we let go. */
async function sayLast(turn: Turn, status: Finalization['status']): Promise<undefined> {
  const ready = { status: 'False', reason: 'Deleted', message: 'everything it made is gone' } as const;
  const { engine, self, generation, now } = turn;
  const note = status as StatusInput['note'];
  await writeStatus(turn, nextStatus({ operator: engine.operator, self, note, accepted, ready, generation, now }));
}

function warn(turn: Turn, reason: string, message: string): void {
  turn.engine.recorder.record(turn.self.object, { type: 'Warning', reason, message, action: 'Finalize' });
}
