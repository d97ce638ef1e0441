/** Conclude: writes the status of a turn and says when to look again. */

import type { Fault } from '@keelson/kube';
import { type KubeObject, type Resource, toMilliseconds } from '@keelson/schema';
import type { Apply, EventNote, Expire, Reject, Wait } from '../decision.ts';
import type { EffectReport } from '../effects/runner.ts';
import type { Executed } from '../execute/execute.ts';
import { soonestOf } from '../execute/fault.ts';
import { deleteInstance } from '../finalize/delete-instance.ts';
import type { Pending } from '../finalize/finalize.ts';
import { digest } from '../plan/value.ts';
import type { Wanted } from '../plan/wanted.ts';
import type { Judgement } from '../status/condition.ts';
import { asTold, isRetold, worthTelling } from '../status/failure.ts';
import { accepted, isStuck, judgeApplied, judgeReady, stuckAfterMs } from '../status/judge.ts';
import { nextStatus, type StatusInput } from '../status/next.ts';
import { obstaclesOf } from '../status/obstacle.ts';
import { writeStatus } from '../status/write.ts';
import type { Notes } from './memory.ts';
import type { Turn, TurnFailure } from './turn.ts';

/** How a turn ended. */
export interface Outcome {
  readonly result: /** Everything is as decided. */
    | 'applied'
    /** Some objects could not be made as decided; everything else was done, and the user has been told. */
    | 'failed'
    /** The operator waits, or something that is not ours stands in the way. */
    | 'waiting'
    /** The spec is bad: nothing happens until it changes. */
    | 'rejected'
    /** The operator has ended the instance. */
    | 'expired'
    /** The instance is being deleted, and nothing of ours holds it. */
    | 'deleted'
    /** There is no such instance. */
    | 'absent';
  /** Look again after this long, even if nothing changes. */
  readonly requeueAfterMs?: number;
  /** Writes to children. */
  readonly steps: number;
  readonly statusWritten: boolean;
  /** Of a turn that failed: by which the queue tries again. */
  readonly fault?: Fault;
  /** What kept the decision from being carried out; undefined when nothing did. */
  readonly failure?: TurnFailure;
}

/** Nothing tells us when somebody else lets go of an object, so a refusal is looked at again after this long. */
const REFUSED_RECHECK_MS = 60_000;

/** What was done this time, or what the operator makes of the failure, may be just what the failed step needs. */
const FAILED_RECHECK_MS = 1_000;

/** After an apply: judged by what the plan met and how the children are. */
export async function concludeApply<R extends Resource>(
  turn: Turn<R>,
  decision: Apply<R>,
  wanted: readonly Wanted[],
  executed: Executed,
  effects: EffectReport,
): Promise<Outcome> {
  const { refusals, leaving, failures, steps } = executed;
  const verdict = redact(turn, judgeApplied(executed, turn.now));
  const told = worthTelling(turn, executed);
  // Of a fault that may pass in a moment nothing is said: what was said last stays.
  const isSilent = told.failures.length < failures.length && judgeApplied(told, turn.now).status === 'True';
  const applied = isSilent ? {} : { applied: asTold(turn, redact(turn, judgeApplied(told, turn.now))) };
  const find = (kind: Wanted['kind'], object: KubeObject) =>
    turn.engine.stores.owned(kind).get(object.metadata)?.object;
  const statusWritten = await state(turn, {
    note: decision.status,
    accepted,
    ...applied,
    ready: judgeReady(wanted, find),
  });
  const fault = soonestOf(failures.map((failure) => failure.fault));
  const isNews = turn.past.failure === undefined || !isRetold(turn.past.failure, verdict);
  return {
    result: fault !== undefined ? 'failed' : verdict.status === 'True' ? 'applied' : 'waiting',
    steps,
    statusWritten,
    ...(fault === undefined ? {} : { fault }),
    ...(verdict.status === 'True' ? {} : { failure: toFailure(turn, verdict, executed) }),
    ...soonest(
      decision.recheckAfter === undefined ? undefined : toMilliseconds(decision.recheckAfter),
      effects.changed ? 0 : effects.dueInMs,
      fault !== undefined && (steps > 0 || isNews) ? FAILED_RECHECK_MS : undefined,
      refusals.length > 0 ? REFUSED_RECHECK_MS : undefined,
      leaving.some(({ live }) => !isStuck(live, turn.now)) ? stuckAfterMs : undefined,
    ),
  };
}

/** The operator waits: nothing was touched. */
export async function concludeWait<R extends Resource>(turn: Turn<R>, decision: Wait<R>): Promise<Outcome> {
  const ready = { status: 'False', reason: decision.reason, message: decision.message } as const;
  const statusWritten = await state(turn, { note: decision.status, accepted, ready });
  return { result: 'waiting', steps: 0, statusWritten, requeueAfterMs: toMilliseconds(decision.recheckAfter) };
}

/** The spec is bad: nothing was touched. */
export async function concludeReject<R extends Resource>(turn: Turn<R>, decision: Reject<R>): Promise<Outcome> {
  const refused = { status: 'False', reason: decision.reason, message: decision.message } as const;
  const statusWritten = await state(turn, { note: decision.status, accepted: refused, ready: refused });
  return { result: 'rejected', steps: 0, statusWritten };
}

/** The time of the instance has come: after its last words it is deleted. The next turn, due at once, sees to the rest. */
export async function concludeExpire<R extends Resource>(turn: Turn<R>, decision: Expire<R>): Promise<Outcome> {
  const { reason, message, status: note } = decision;
  const ready = { status: 'False', reason, message } as const;
  const statusWritten = note === undefined ? false : await state(turn, { note, accepted, ready });
  await deleteInstance(turn);
  turn.engine.recorder.record(turn.self.object, { type: 'Normal', reason, message, action: 'Expire' });
  return { result: 'expired', steps: 0, statusWritten, requeueAfterMs: 0 };
}

/** The instance is on its way out and waits for something. */
export async function concludePending(turn: Turn, pending: Pending): Promise<Outcome> {
  const ready = { status: 'False', reason: pending.reason, message: pending.message } as const;
  const statusWritten = await state(turn, { note: pending.status, accepted, ready });
  return { result: 'waiting', steps: 0, statusWritten, requeueAfterMs: pending.recheckAfterMs };
}

/** Tells what the decision before this one has not told: a decision says the same again on every turn. */
export function tellNews(turn: Turn, notes: Notes, events: readonly EventNote[] = []): void {
  const news = new Map(events.map((event) => [digest(event), event]));
  for (const [identity, event] of news) {
    if (!notes.told.has(identity)) turn.engine.recorder.record(turn.self.object, { ...event, action: 'Reconcile' });
  }
  notes.told = new Set(news.keys());
}

function state(
  turn: Turn,
  said: Pick<StatusInput, 'accepted' | 'applied' | 'ready'> & { readonly note: unknown },
): Promise<boolean> {
  const note = said.note as StatusInput['note'];
  const { operator } = turn.engine;
  return writeStatus(
    turn,
    nextStatus({ ...said, note, operator, self: turn.self, generation: turn.generation, now: turn.now }),
  );
}

function toFailure(turn: Turn, { reason, message }: Judgement, executed: Executed): TurnFailure {
  const obstacles = obstaclesOf(executed).map((one) => ({ ...one, text: turn.redactor.text(one.text) }));
  return { reason, message, obstacles };
}

function redact(turn: Turn, judgement: Judgement): Judgement {
  return { ...judgement, message: turn.redactor.text(judgement.message) };
}

function soonest(...delays: readonly (number | undefined)[]): { requeueAfterMs?: number } {
  const known = delays.filter((delay) => delay !== undefined);
  return known.length === 0 ? {} : { requeueAfterMs: Math.min(...known) };
}
