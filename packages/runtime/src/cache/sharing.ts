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

/** Strings and label sets that repeat are few; beyond this many they do not repeat, and remembering them would cost more than it saves. */
const REMEMBERED = 4_096;

/** Gives back one copy of equal strings and of equal label sets, of which many objects carry the same. */
export interface Interner {
  text(text: string): string;
  labels(labels: Record<string, string>): Record<string, string>;
}

export function createInterner(limit = REMEMBERED): Interner {
  const texts = new Map<string, string>();
  const labelSets = new Map<string, Record<string, string>>();
  return {
    text: (text) => remember(texts, text, text),
    labels: (labels) => remember(labelSets, JSON.stringify(labels), labels),
  };

  function remember<T>(known: Map<string, T>, key: string, value: T): T {
    const copy = known.get(key);
    if (copy !== undefined) return copy;
    if (known.size < limit) known.set(key, value);
    return value;
  }
}
