/**
 * Lets children go without deleting them: takes our marks and the owner reference off, so that neither garbage collection nor
 * any operator of ours lays a hand on them again. What they do goes on; what else is on them stays.
 */
import { isFault } from '@keelson/kube';
import type { Kind, KubeObject } from '@keelson/schema';
import { isMarked, marks } from '../marks.ts';
import type { Child } from '../plan/plan.ts';
import type { Turn } from '../reconciler/turn.ts';
import { tryAll } from './try-all.ts';

const TRIES = 4;

/** Releases every one of these children. */
export async function releaseChildren(turn: Turn, children: readonly Child[]): Promise<undefined> {
  await tryAll(turn, children, 'release', ({ kind, live }) => release(turn, kind, live.object));
}

async function release(turn: Turn, kind: Kind, found: KubeObject): Promise<void> {
  const { engine, owner, signal } = turn;
  let live: KubeObject | undefined = found;
  for (let attempt = 1; live !== undefined && isMarked(live, owner); attempt += 1) {
    const { uid, resourceVersion, ownerReferences = [] } = live.metadata;
    const metadata = {
      // Makes the patch fail when the child has changed since: the list of owners is replaced as a whole.
      uid,
      resourceVersion,
      labels: { [marks.operator]: null, [marks.managedBy]: null, [marks.partOf]: null, [marks.ownerUid]: null },
      annotations: { [marks.owner]: null },
      ownerReferences: ownerReferences.filter((reference) => reference.uid !== owner.uid),
    };
    engine.fence.check();
    try {
      const body = { type: 'merge', value: { metadata } } as const;
      const answer = await engine.client.patch(kind, live.metadata, body, { fieldManager: owner.fieldManager, signal });
      engine.stores.owned(kind).absorb(answer);
      return;
    } catch (error) {
      if (isFault(error, 'NotFound')) return;
      if (!isFault(error, 'Conflict') || attempt === TRIES) throw error;
      live = await engine.client.find(kind, live.metadata, { signal });
    }
  }
}
