/**
 * Sharing: what is equal in many objects is held once. Field ownership is the same for all children that an operator made from
 * one template, and namespaces and label values repeat; JSON parsing would give each object its own copy.
 */
import { hash } from 'node:crypto';

/** A value held once for all objects that have an equal one. */
export interface Shared<T> {
  readonly value: T;
  readonly digest: string;
  users: number;
}

export interface SharedPool<T> {
  /** The one value equal to this; every `take` is matched by a `release`. */
  take(value: T): Shared<T>;
  release(shared: Shared<T> | undefined): void;
  readonly size: number;
}

/** Shares plain JSON data. */
export function createSharedPool<T>(): SharedPool<T> {
  const pool = new Map<string, Shared<T>>();
  return {
    take(value) {
      // By digest, not by the text itself: the key of a value that nobody shares must not cost as much as the value.
      const digest = hash('sha256', JSON.stringify(value), 'base64');
      const known = pool.get(digest);
      if (known !== undefined) {
        known.users += 1;
        return known;
      }
      const shared = { value, digest, users: 1 };
      pool.set(digest, shared);
      return shared;
    },
    release(shared) {
      if (shared === undefined) return;
      shared.users -= 1;
      if (shared.users === 0) pool.delete(shared.digest);
    },
    get size() {
      return pool.size;
    },
  };
}

/** Strings that repeat are few; beyond this many they do not repeat, and remembering them would cost more than it saves. */
const INTERN_LIMIT = 4_096;

/** Gives back one copy of each string, for strings of which many objects carry the same. */
export function createInterner(limit = INTERN_LIMIT): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const copy = known.get(text);
    if (copy !== undefined) return copy;
    if (known.size < limit) known.set(text, text);
    return text;
  };
}
