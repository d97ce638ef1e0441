/**
 * Remembers which objects have gone, so that a late answer or event cannot bring them back.
 *
 * An object may leave the scope of a watch and come back later with the same uid, so what counts is the resourceVersion as of
 * which it was gone. Of our own deletion we do not know that version: until the watch has shown it, everything that the watch
 * says about the object is from before. A later answer to a write of ours always counts.
 *
 * A grave is needed only as long as a request or event may still be on its way, so graves are kept in two generations of a few
 * minutes: forgetting costs nothing, and a kind that churns cannot fill the memory.
 */
import { isOlder } from '@keelson/kube';
import type { Clock } from '../clock.ts';

const GENERATION_MS = 5 * 60_000;

interface Grave {
  readonly resourceVersion: string;
  /** The watch has shown the end. */
  readonly shown: boolean;
}

export interface Tombstones {
  /** The watch shows that the object is gone as of this resourceVersion. */
  shown(uid: string | undefined, resourceVersion: string): void;
  /** We removed it; this is the last version that we know of. */
  made(uid: string | undefined, resourceVersion: string): void;
  /** True when the watch shows something from before the end. */
  hidesSighting(uid: string | undefined, resourceVersion: string): boolean;
  /** True when an answer to one of our own writes is from before the end. */
  hidesAnswer(uid: string | undefined, resourceVersion: string): boolean;
  /** It lives again. */
  raise(uid: string | undefined): void;
}

export function createTombstones(clock: Clock): Tombstones {
  let young = new Map<string, Grave>();
  let old = new Map<string, Grave>();
  let bornAt = clock.monotonic();

  const find = (uid: string | undefined): Grave | undefined =>
    uid === undefined ? undefined : (young.get(uid) ?? old.get(uid));

  function bury(uid: string | undefined, grave: Grave): void {
    if (uid === undefined) return;
    const now = clock.monotonic();
    if (now - bornAt > GENERATION_MS) {
      old = young;
      young = new Map();
      bornAt = now;
    }
    young.set(uid, grave);
  }

  return {
    shown: (uid, resourceVersion) => bury(uid, { resourceVersion, shown: true }),
    made: (uid, resourceVersion) => bury(uid, { resourceVersion, shown: false }),
    hidesSighting(uid, resourceVersion) {
      const grave = find(uid);
      return grave !== undefined && (!grave.shown || !isOlder(grave.resourceVersion, resourceVersion));
    },
    hidesAnswer(uid, resourceVersion) {
      const grave = find(uid);
      return grave !== undefined && !isOlder(grave.resourceVersion, resourceVersion);
    },
    raise(uid) {
      if (uid === undefined) return;
      young.delete(uid);
      old.delete(uid);
    },
  };
}
