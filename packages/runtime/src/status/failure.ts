/**
 * Tells the user about a turn that failed, in the Applied condition, before the failure goes on to the queue. Written only when
 * it says something new: a fault that lasts must not cost a write for each retry.
 */
import { type Fault, isFault } from '@keelson/kube';
import { isOperatorBug } from '../bug.ts';
import type { Executed } from '../execute/execute.ts';
import type { Turn, TurnFailure } from '../reconciler/turn.ts';
import { engineConditions, type Judgement } from './condition.ts';
import { accepted } from './judge.ts';
import { conditionsOf, nextStatus } from './next.ts';
import { writeStatus } from './write.ts';

/** Faults that pass by themselves are told only when they have come this often in a row. */
const PATIENCE = 3;

/** A number, time or duration that stands by itself: one in a name tells objects apart. */
const looseNumber = /(?<![\w./-])\d[\d.:TZ-]*(ms|s|m|h)?(?![\w-])/g;

/** What of a turn a person should know. */
export function worthTelling(turn: Turn, executed: Executed): Executed {
  return { ...executed, failures: executed.failures.filter(({ fault }) => !isPassing(turn, fault)) };
}

/** The judgement as the status has it already, if this is the same again. */
export function asTold(turn: Turn, judgement: Judgement): Judgement {
  const told = conditionsOf(turn.self.object.status).find(({ type }) => type === engineConditions.applied);
  const isSame =
    told !== undefined &&
    told.status === judgement.status &&
    told.observedGeneration === turn.generation &&
    isRetold(told, judgement);
  return isSame ? told : judgement;
}

/** Puts the failure into the status if a person should know; never throws, because the failure itself is what counts. */
export async function reportFailure(turn: Turn, error: unknown): Promise<void> {
  if (turn.signal.aborted || (isFault(error) && isPassing(turn, error))) return;
  const failure = toJudgement(turn, error);
  if (asTold(turn, failure) !== failure) return;
  const conditions = conditionsOf(turn.self.object.status);
  const verdict = conditions.find(({ type }) => type === engineConditions.accepted) ?? accepted;
  try {
    await writeStatus(
      turn,
      nextStatus({
        operator: turn.engine.operator,
        self: turn.self,
        note: undefined,
        accepted: verdict,
        applied: failure,
        ready: failure,
        generation: turn.generation,
        now: turn.now,
      }),
    );
  } catch {
    // The same trouble that failed the turn keeps us from telling: the queue counts and logs the one that came first.
  }
}

/** A fault in the words of the status; undefined for a bug, of which the operator could make nothing. */
export function failureOf(turn: Turn, error: unknown): TurnFailure | undefined {
  if (!isFault(error)) return undefined;
  return { reason: error.code, message: turn.redactor.text(error.message), obstacles: [] };
}

function toJudgement(turn: Turn, error: unknown): Judgement {
  const failure = failureOf(turn, error);
  if (failure !== undefined) return { status: 'False', reason: failure.reason, message: failure.message };
  // The message of any other error may hold whatever the operator was working on.
  const what = isOperatorBug(error)
    ? turn.redactor.text(error.message)
    : `${error instanceof Error ? error.name : 'an error'} while it was deciding`;
  return {
    status: 'False',
    reason: 'OperatorBug',
    message: `a bug in the operator: ${what} (see its log, and report it)`,
  };
}

function isPassing({ past }: Turn, fault: Fault): boolean {
  return fault.retry === 'backoff' && past.failures + 1 < PATIENCE;
}

/** The same again, but for resource versions, times and counts in the message. */
export function isRetold(told: Omit<Judgement, 'status'>, now: Omit<Judgement, 'status'>): boolean {
  const plain = (text: string): string => text.replace(looseNumber, '#');
  return told.reason === now.reason && plain(told.message) === plain(now.message);
}
