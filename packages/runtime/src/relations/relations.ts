/**
 * The reverse of `relate`: which instances of an operator care about an object that changed.
 *
 * Invariant: `interested` answers exactly the keys whose last `set` selects the object. Exact names are found in O(1); label
 * selections are looked through per kind. The controller sets the relations of a key before it reads what is related, so that
 * no change falls in between, and clears them when the instance is gone.
 */
import type { Kind, KubeObject } from '@keelson/schema';
import { type Key, toKey } from '../key.ts';
import type { Related } from '../operator.ts';
import { isSelected, type Selection, toSelection } from './related.ts';

export interface Relations {
  /** Replaces what the key relates to. */
  set(key: Key, related: readonly Related[], instanceNamespace: string | undefined): void;
  /** The keys that care about this object. */
  interested(object: KubeObject): Iterable<Key>;
  clear(key: Key): void;
  /** How many keys have relations. */
  readonly size: number;
}

/** The relations of one operator through one of its watches. */
export function createRelations(kind: Kind): Relations {
  const selections = new Map<Key, readonly Selection[]>();
  const byName = new Map<string, Set<Key>>();
  /** Keys whose selections have to be looked through. */
  const others = new Map<Key, readonly Selection[]>();

  function clear(key: Key): void {
    for (const selection of selections.get(key) ?? []) {
      if (selection.by !== 'name') continue;
      const name = toKey(selection);
      const keys = byName.get(name);
      keys?.delete(key);
      if (keys?.size === 0) byName.delete(name);
    }
    selections.delete(key);
    others.delete(key);
  }

  return {
    set(key, related, instanceNamespace) {
      const next = related.map((one) => toSelection(one, kind, instanceNamespace));
      const known = selections.get(key);
      if (known !== undefined && JSON.stringify(known) === JSON.stringify(next)) return;
      clear(key);
      if (next.length === 0) return;
      selections.set(key, next);
      for (const selection of next) {
        if (selection.by !== 'name') continue;
        const name = toKey(selection);
        const keys = byName.get(name);
        if (keys === undefined) byName.set(name, new Set([key]));
        else keys.add(key);
      }
      const rest = next.filter((selection) => selection.by !== 'name');
      if (rest.length > 0) others.set(key, rest);
    },
    interested(object) {
      const keys = new Set(byName.get(toKey(object.metadata)));
      for (const [key, rest] of others) {
        if (!keys.has(key) && rest.some((selection) => isSelected(selection, object))) keys.add(key);
      }
      return keys;
    },
    clear,
    get size() {
      return selections.size;
    },
  };
}
