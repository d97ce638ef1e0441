/**
 * Writes the status, only when it says something else than what is there.
 *
 * By server-side apply on the status subresource, because conditions are a list with several writers: a merge patch replaces
 * the list and would lose what another controller wrote between our read and our write, and an update would conflict with
 * it each time. An apply names our own items only; what we stop saying goes, what others say stays. It never conflicts: it
 * is forced (our fields are ours) and carries no resourceVersion, only the uid of the instance it speaks of.
 */
import { isFault } from '@keelson/kube';
import { formatProblems, type KubeObject, parseStatus } from '@keelson/schema';
import { operatorBug } from '../bug.ts';
import { explainFault } from '../execute/fault.ts';
import { statusDifferences } from '../plan/compare.ts';
import { toLive } from '../plan/fields.ts';
import { objectText } from '../plan/wanted.ts';
import type { Turn } from '../reconciler/turn.ts';
import { engineConditions } from './condition.ts';
import { conditionsOf } from './next.ts';

/** True when there was something to write and the instance was still there. */
export async function writeStatus(turn: Turn, stated: KubeObject): Promise<boolean> {
  const { engine, owner, signal } = turn;
  const { object } = turn.self;
  if (isSaid(turn, stated)) return false;
  const next = toStored(turn, stated);
  if (isSaid(turn, next)) return false;
  const move = checkMove(turn, next);
  engine.fence.check();
  let answer: KubeObject;
  try {
    const options = { fieldManager: owner.fieldManager, force: true, subresource: 'status', signal } as const;
    answer = await engine.client.apply(engine.operator.resource, next, options);
  } catch (error) {
    if (isFault(error, 'NotFound')) return false;
    throw explainFault(error, `write the status of ${objectText(engine.operator.resource, object)}`);
  }
  engine.primary.absorb(answer);
  const before = turn.self;
  turn.self = toLive(answer, owner.fieldManager);
  engine.settledStatus.remember(owner.uid, answer, next, statusDifferences(next, turn.self));
  tell(turn, before.object, next, move);
  return true;
}

/** True when the status says this already, as far as the server can. */
function isSaid({ engine, owner, self }: Turn, next: KubeObject): boolean {
  const changes = statusDifferences(next, self);
  return changes.length === 0 || engine.settledStatus.covers(owner.uid, self.object, next, changes);
}

/** The status as the schema has it: what it does not know is dropped, what it does not allow is a bug of the operator. */
function toStored(turn: Turn, next: KubeObject): KubeObject {
  const { operator } = turn.engine;
  const parsed = parseStatus(operator.resource, next.status);
  if (parsed.ok) return { ...next, status: parsed.status };
  throw operatorBug(
    `operator ${operator.name} states what its own schema does not allow: ${formatProblems(parsed.problems)}`,
  );
}

interface Move {
  readonly from: string | undefined;
  readonly to: string;
}

/** The step in the operator's life cycle that this status takes; an illegal one is a bug and is not written. */
function checkMove(turn: Turn, next: KubeObject): Move | undefined {
  const { operator } = turn.engine;
  if (operator.lifecycle === undefined) return undefined;
  const { lifecycle } = operator;
  const from = lifecycle.stateIn(turn.self.object.status);
  const to = lifecycle.stateIn(next.status);
  if (to === undefined || to === from) return undefined;
  const verdict = lifecycle.check(from, to);
  if (!verdict.legal) throw operatorBug(`operator ${operator.name}: ${verdict.message}`);
  return { from, to };
}

/** What turned is worth an event: a state that moved, an acceptance or an apply that failed. */
function tell(turn: Turn, before: KubeObject, next: KubeObject, move: Move | undefined): void {
  const { recorder, hooks } = turn.engine;
  if (move !== undefined) {
    recorder.record(before, {
      type: 'Normal',
      reason: move.to,
      message: `${move.from ?? 'new'} → ${move.to}`,
      action: 'Transition',
    });
    hooks.transition?.(move);
  }
  for (const type of [engineConditions.accepted, engineConditions.applied]) {
    const was = conditionsOf(before.status).find((condition) => condition.type === type);
    const is = conditionsOf(next.status).find((condition) => condition.type === type);
    if (is?.status !== 'False' || (was?.status === 'False' && was.reason === is.reason)) continue;
    recorder.record(before, { type: 'Warning', reason: is.reason, message: is.message, action: 'Reconcile' });
  }
}
