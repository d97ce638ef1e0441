/** An index of a store: which objects a function gives a value for. Most values have one object, which then costs no set. */
import type { KubeObject } from '@keelson/schema';
import { marks } from '../marks.ts';
import type { Store } from './store.ts';

export type IndexFunction = (object: KubeObject) => readonly string[];

/** Name of the index by the uid of the owner, which every store of owned kinds has. */
export const OWNER_UID = 'owner-uid';

/** The uid of the owner that our marks name, else of the controller. */
export function ownerUid(object: KubeObject): string | undefined {
  return (
    object.metadata.labels?.[marks.ownerUid] ??
    object.metadata.ownerReferences?.find((reference) => reference.controller === true)?.uid
  );
}

/** True when the store holds the object with this uid. Walks through all of it: for questions that are seldom asked. */
export function holdsUid(store: Store, uid: string): boolean {
  for (const { object } of store.list()) if (object.metadata.uid === uid) return true;
  return false;
}

export const ownerUidIndex: IndexFunction = (object) => {
  const uid = ownerUid(object);
  return uid === undefined ? [] : [uid];
};

export interface ObjectIndex<H> {
  add(held: H, object: KubeObject): void;
  remove(held: H, object: KubeObject): void;
  get(value: string): Iterable<H>;
}

export function createObjectIndex<H extends object>(values: IndexFunction): ObjectIndex<H> {
  const entries = new Map<string, H | Set<H>>();
  return {
    add(held, object) {
      for (const value of values(object)) {
        const entry = entries.get(value);
        if (entry === undefined) entries.set(value, held);
        else if (entry instanceof Set) entry.add(held);
        else if (entry !== held) entries.set(value, new Set([entry, held]));
      }
    },
    remove(held, object) {
      for (const value of values(object)) {
        const entry = entries.get(value);
        if (entry === held) entries.delete(value);
        else if (entry instanceof Set) {
          entry.delete(held);
          if (entry.size === 0) entries.delete(value);
        }
      }
    },
    get(value) {
      const entry = entries.get(value);
      if (entry === undefined) return [];
      return entry instanceof Set ? entry : [entry];
    },
  };
}
