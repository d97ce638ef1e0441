/**
 * Deletes an instance whose operator says that its time has come: this very one, by its uid, never another that took its name.
 * What follows is what follows on any deletion.
 */
import { isFault } from '@keelson/kube';
import { explainFault } from '../execute/fault.ts';
import { toLive } from '../plan/fields.ts';
import { objectText } from '../plan/wanted.ts';
import type { Turn } from '../reconciler/turn.ts';

/** Asks for the deletion of the instance; its children go as they do when anybody deletes it. */
export async function deleteInstance(turn: Turn): Promise<void> {
  const { engine, owner, signal } = turn;
  const { object } = turn.self;
  engine.fence.check();
  try {
    const left = await engine.client.delete(engine.operator.resource, object.metadata, {
      preconditions: { uid: owner.uid },
      propagation: 'Background',
      signal,
    });
    if (left === undefined) engine.primary.absorbGone(object);
    else {
      engine.primary.absorb(left);
      turn.self = toLive(left, owner.fieldManager);
    }
  } catch (error) {
    if (isFault(error, 'NotFound')) return;
    throw explainFault(error, `delete ${objectText(engine.operator.resource, object)}`);
  }
}
