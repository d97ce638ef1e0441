/**
 * Judges the answer to an apply, before anything is built on it. An answer is what the server made of our object, and that need
 * not be what we sent: a policy may have changed it on the way, and what we were about to create may have been made by somebody
 * else since we looked.
 */
import { Fault } from '@keelson/kube';
import type { Kind, KubeObject } from '@keelson/schema';
import { isMarked, marks, type Owner } from '../marks.ts';
import type { Turn } from '../reconciler/turn.ts';

/**
 * Throws when our marks did not arrive. The watch does not show such an object and nothing may delete it, so to go on as if it
 * were ours would make it again and again.
 */
export function checkMarks(answer: KubeObject, owner: Owner): void {
  if (isMarked(answer, owner)) return;
  const labels = answer.metadata.labels ?? {};
  const lost = [
    { label: marks.operator, wanted: owner.fieldManager },
    { label: marks.ownerUid, wanted: owner.uid },
  ]
    .filter(({ label, wanted }) => labels[label] !== wanted)
    .map(({ label, wanted }) => {
      const found = labels[label];
      return `its label ${label} is ${found === undefined ? 'missing' : `'${found}'`} instead of '${wanted}'`;
    });
  throw new Fault('MarksChanged', `the API server stored it, but ${lost.join(' and ')}`);
}

/** True when somebody else has a hand in an object that we believed to create. */
export function isShared(answer: KubeObject, owner: Owner): boolean {
  return answer.metadata.managedFields?.some(({ manager }) => manager !== owner.fieldManager) === true;
}

/** Takes back everything that we applied to an object of somebody else: what they wrote stays as it is. */
export async function withdraw(turn: Turn, kind: Kind, answer: KubeObject): Promise<void> {
  const { engine, owner, signal } = turn;
  const { name, namespace, uid } = answer.metadata;
  // An apply of nothing gives up every field that is ours alone; the uid makes sure that it is this very object.
  const nothing = {
    apiVersion: answer.apiVersion,
    kind: answer.kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...(uid === undefined ? {} : { uid }) },
  };
  const left = await engine.client.apply(kind, nothing, { fieldManager: owner.fieldManager, signal });
  // The watch may show it with our marks for a moment.
  engine.stores.owned(kind).absorbGone(left);
}
