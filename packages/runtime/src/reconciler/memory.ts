/**
 * What the engine remembers of each instance between turns, all of it only to save work or to be polite: losing it in a crash
 * costs nothing but a repeated event. Bounded by the number of instances, and forgotten with them.
 */

import type { Ref } from '@keelson/schema';
import { toKey } from '../key.ts';

interface Notes {
  readonly uid: string;
  /** Turns that failed in a row. */
  failures: number;
  /** When this process first tried to finalize it, in milliseconds since the epoch. */
  finalizingSince: number | undefined;
  /** What the last decision had to tell. */
  told: ReadonlySet<string>;
}

export interface Memory {
  /** The notes on the instance that now has this name; those on another that had it before are forgotten. */
  of(ref: Ref, uid: string): Notes;
  /** Nobody has this name any more. */
  forget(ref: Ref): void;
  readonly size: number;
}

/** `onForget` is told the uid of each instance that is gone. */
export function createMemory(onForget: (uid: string) => void): Memory {
  const known = new Map<string, Notes>();
  const drop = (key: string): void => {
    const notes = known.get(key);
    if (notes === undefined) return;
    known.delete(key);
    onForget(notes.uid);
  };
  return {
    of(ref, uid) {
      const key = toKey(ref);
      const notes = known.get(key);
      if (notes?.uid === uid) return notes;
      drop(key);
      const fresh: Notes = { uid, failures: 0, finalizingSince: undefined, told: new Set() };
      known.set(key, fresh);
      return fresh;
    },
    forget: (ref) => drop(toKey(ref)),
    get size() {
      return known.size;
    },
  };
}
