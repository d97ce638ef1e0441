/**
 * Tells our own writes from everybody else's when they come back in the watch.
 *
 * Invariant: a foreign change is never taken for ours. Between what the watch had shown us (`base`) and the answer to our write
 * somebody else may have written too, and our write may have changed nothing and merely returned their version. So only those
 * resource versions are passed over that we can prove we made; in doubt a key runs once more, which writes nothing.
 */
import { compareResourceVersions, isOlder } from '@keelson/kube';
import type { ManagedFields } from '@keelson/schema';

/** What the store must do with a version of an object that the watch shows. */
export type Sighting =
  /** Ours: known already, nobody needs to hear of it. */
  | 'echo'
  /** Seen before. */
  | 'replay'
  /** Somebody else's. */
  | 'foreign';

interface Pending {
  /** The newest version that the watch has shown. */
  base: string;
  writes: { readonly resourceVersion: string; readonly proven: boolean; readonly at: number }[];
}

export interface OwnWrites {
  /** We wrote this version of an object of which the watch had last shown `base` ('0' if nothing). */
  wrote(uid: string, resourceVersion: string, base: string, proven: boolean, at: number): void;
  /** The watch shows this version of an object that we wrote to. Undefined when nothing of ours is awaited for it. */
  sight(uid: string, resourceVersion: string): { readonly sighting: Sighting; readonly wroteAt?: number } | undefined;
  /** Forgets the object. */
  forget(uid: string): void;
  readonly size: number;
}

export function createOwnWrites(): OwnWrites {
  const pending = new Map<string, Pending>();
  return {
    wrote(uid, resourceVersion, base, proven, at) {
      const known = pending.get(uid);
      if (known === undefined) pending.set(uid, { base, writes: [{ resourceVersion, proven, at }] });
      else known.writes.push({ resourceVersion, proven, at });
    },
    sight(uid, resourceVersion) {
      const known = pending.get(uid);
      if (known === undefined) return undefined;
      if (compareResourceVersions(resourceVersion, known.base) <= 0) return { sighting: 'replay' };
      known.base = resourceVersion;
      const write = known.writes.find((candidate) => candidate.resourceVersion === resourceVersion);
      known.writes = known.writes.filter((candidate) => isOlder(resourceVersion, candidate.resourceVersion));
      if (known.writes.length === 0) pending.delete(uid);
      if (write === undefined) return { sighting: 'foreign' };
      return { sighting: write.proven ? 'echo' : 'foreign', wroteAt: write.at };
    },
    forget(uid) {
      pending.delete(uid);
    },
    get size() {
      return pending.size;
    },
  };
}

/**
 * When a field manager last changed the object, in seconds; 0 when it never did. The API server moves this time only when a write
 * of that manager changed something, so a moved time proves that a write was not a no-op.
 */
export function lastWriteOf(managers: ReadonlySet<string>, entries: readonly ManagedFields[] | undefined): number {
  let last = 0;
  for (const entry of entries ?? []) {
    if (entry.manager === undefined || entry.time === undefined || !managers.has(entry.manager)) continue;
    last = Math.max(last, Math.floor(Date.parse(entry.time) / 1_000) || 0);
  }
  return last;
}
