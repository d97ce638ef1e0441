/**
 * Our finalizer on an instance: put there before the first thing is made that garbage collection cannot remove, taken away as
 * soon as it has no purpose. Both are JSON patches that test what they change, so they can neither be lost nor lose a
 * finalizer that somebody else adds at the same moment.
 */
import { Fault, isFault, type PatchBody } from '@keelson/kube';
import type { KubeObject } from '@keelson/schema';
import { explainFault } from '../execute/fault.ts';
import { isReachable, marks } from '../marks.ts';
import { toLive } from '../plan/fields.ts';
import type { Child } from '../plan/plan.ts';
import { objectText, type Wanted } from '../plan/wanted.ts';
import type { Turn } from '../reconciler/turn.ts';

/** True when children are to be left running: by annotation, or because the deletion itself asked for it (`kubectl delete --cascade=orphan`). */
export function isOrphaning(self: KubeObject): boolean {
  return (
    self.metadata.annotations?.[marks.deletionPolicy] === 'orphan' ||
    self.metadata.finalizers?.includes('orphan') === true
  );
}

/** True when something must happen before the instance may go. */
export function needsFinalizer(turn: Turn, wanted: readonly Wanted[], owned: readonly Child[]): boolean {
  const { operator } = turn.engine;
  return (
    operator.finalize !== undefined ||
    // Garbage collection follows the owner references unless they are taken off first.
    isOrphaning(turn.self.object) ||
    wanted.some((one) => !one.reachable) ||
    owned.some(({ kind, live }) => !isReachable(turn.owner, kind, live.object.metadata.namespace))
  );
}

export function hasFinalizer({ engine, self }: Turn): boolean {
  return self.object.metadata.finalizers?.includes(engine.operator.finalizer) === true;
}

/** Puts our finalizer on the instance. */
export async function addFinalizer(turn: Turn): Promise<void> {
  const { finalizers } = turn.self.object.metadata;
  const { finalizer } = turn.engine.operator;
  const operation: Operations =
    finalizers === undefined || finalizers.length === 0
      ? [
          // Null passes for a list that is absent; adding to one that just appeared would replace it.
          { op: 'test', path: '/metadata/finalizers', value: null },
          { op: 'add', path: '/metadata/finalizers', value: [finalizer] },
        ]
      : [
          { op: 'test', path: '/metadata/finalizers', value: finalizers },
          { op: 'add', path: '/metadata/finalizers/-', value: finalizer },
        ];
  await patch(turn, operation);
}

/** Takes our finalizer off: an instance that is being deleted may go now. */
export async function dropFinalizer(turn: Turn): Promise<void> {
  const finalizers = turn.self.object.metadata.finalizers ?? [];
  const position = finalizers.indexOf(turn.engine.operator.finalizer);
  if (position === -1) return;
  await patch(turn, [
    { op: 'test', path: '/metadata/finalizers', value: finalizers },
    { op: 'remove', path: `/metadata/finalizers/${position}` },
  ]);
}

type Operations = (PatchBody & { type: 'json' })['operations'];

async function patch(turn: Turn, operations: Operations): Promise<void> {
  const { engine, owner, signal } = turn;
  const { metadata } = turn.self.object;
  engine.fence.check();
  // Of this very instance, not of another that took its name.
  const guard: Operations = [{ op: 'test', path: '/metadata/uid', value: metadata.uid }];
  try {
    const body: PatchBody = { type: 'json', operations: [...guard, ...operations] };
    const answer = await engine.client.patch(engine.operator.resource, metadata, body, {
      fieldManager: owner.fieldManager,
      signal,
    });
    if (metadata.deletionTimestamp !== undefined && isFree(answer)) engine.primary.absorbGone(answer);
    else engine.primary.absorb(answer);
    turn.self = toLive(answer, owner.fieldManager);
  } catch (error) {
    if (isFault(error, 'NotFound') && metadata.deletionTimestamp !== undefined) return;
    // A failed test answers 422: somebody changed the list since the cache saw it, so this is a conflict and worth a retry.
    if (isFault(error, 'Invalid') && (error.details.causes ?? []).length === 0)
      throw new Fault(
        'Conflict',
        `finalizers of ${engine.operator.resource.kind} ${metadata.name} have changed meanwhile`,
        error.details,
        error,
      );
    throw explainFault(error, `change the finalizers of ${objectText(engine.operator.resource, turn.self.object)}`);
  }
}

function isFree(object: KubeObject): boolean {
  return (object.metadata.finalizers ?? []).length === 0;
}
