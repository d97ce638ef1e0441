/**
 * Tells the user about a turn that failed, in the Applied condition, before the failure goes on to the queue. Written only when
 * it says something new: a fault that lasts must not cost a write for each retry.
 */
import { isFault } from '@keelson/kube';
import { isOperatorBug } from '../bug.ts';
import type { Turn } from '../reconciler/turn.ts';
import { engineConditions, type Judgement } from './condition.ts';
import { accepted } from './judge.ts';
import { conditionsOf, nextStatus } from './next.ts';
import { writeStatus } from './write.ts';

/** Faults that pass by themselves are told only when they have come this often in a row. */
const PATIENCE = 3;

/** Puts the failure into the status if a person should know; never throws, because the failure itself is what counts. */
export async function reportFailure(turn: Turn, error: unknown, inARow: number): Promise<void> {
  if (turn.signal.aborted) return;
  if (isFault(error) && error.retry === 'backoff' && inARow < PATIENCE) return;
  const failure = toJudgement(turn, error);
  const conditions = conditionsOf(turn.self.object.status);
  const told = conditions.find(({ type }) => type === engineConditions.applied);
  if (told !== undefined && told.observedGeneration === turn.generation && isRetold(told, failure)) return;
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

function toJudgement(turn: Turn, error: unknown): Judgement {
  if (isFault(error)) return { status: 'False', reason: error.code, message: turn.redactor.text(error.message) };
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

/** The same message again, but for resource versions, times and counts in it. */
function isRetold(told: Judgement, now: Judgement): boolean {
  const plain = (text: string): string => text.replace(/\d+/g, '#');
  return told.status === now.status && told.reason === now.reason && plain(told.message) === plain(now.message);
}
