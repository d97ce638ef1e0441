/**
 * Deletes one child, and only that very one: by uid and resourceVersion, and only while it carries our marks. When it changed
 * since the cache saw it, it is read again and judged again.
 */
import { isFault } from '@keelson/kube';
import type { Kind, KubeObject } from '@keelson/schema';
import { isMarked } from '../marks.ts';
import type { Turn } from '../reconciler/turn.ts';

/** A child whose status moves all the time needs more than one try. */
const TRIES = 4;

export interface Removal {
  /** We asked for its deletion just now. */
  readonly asked: boolean;
  /** The child as it is afterwards, if something still holds it. */
  readonly left?: KubeObject;
}

/** Deletes a child if it is still ours to delete. */
export async function removeChild(turn: Turn, kind: Kind, planned: KubeObject): Promise<Removal> {
  const { engine, owner, signal } = turn;
  const store = engine.stores.owned(kind);
  let live = planned;
  for (let attempt = 1; ; attempt += 1) {
    if (live.metadata.deletionTimestamp !== undefined) return { asked: false, left: live };
    if (!isMarked(live, owner)) return { asked: false };
    const { uid, resourceVersion } = live.metadata;
    if (uid === undefined || resourceVersion === undefined)
      throw new TypeError('a live object has a uid and a resourceVersion');
    engine.fence.check();
    try {
      const left = await engine.client.delete(kind, live.metadata, {
        preconditions: { uid, resourceVersion },
        propagation: 'Background',
        signal,
      });
      if (left === undefined) store.absorbGone(live);
      else store.absorb(left);
      return left === undefined ? { asked: true } : { asked: true, left };
    } catch (error) {
      if (isFault(error, 'NotFound')) {
        store.absorbGone(live);
        return { asked: false };
      }
      if (!isFault(error, 'Conflict') || attempt === TRIES) throw error;
      const now = await engine.client.find(kind, live.metadata, { signal });
      if (now === undefined || now.metadata.uid !== uid) {
        store.absorbGone(live);
        return { asked: false };
      }
      live = now;
    }
  }
}
