/**
 * The objects of a store, by namespace and name and by index. Knows nothing of versions or listeners: memory-store.ts decides
 * what is put here.
 *
 * Memory: the keys of the nested maps are strings that the objects hold anyway, field ownership is held once for all objects
 * with an equal one, and one small record stands for each object.
 */
import type { Kind, KubeObject, ManagedFields, Ref } from '@keelson/schema';
import { otherFields, ownFields } from '../plan/fields.ts';
import { createObjectIndex, type IndexFunction, type ObjectIndex } from './object-index.ts';
import { lastWriteOf } from './own-writes.ts';
import { createTrim, type Hold } from './projection.ts';
import { createInterner, createSharedPool, type Shared } from './sharing.ts';
import type { OtherFields } from './store.ts';

/** fieldsV1 of the Apply entry of each of our field managers. */
export type OwnedFields = Readonly<Record<string, NonNullable<ManagedFields['fieldsV1']>>>;

export interface Held {
  object: KubeObject;
  fields: Shared<OwnedFields> | undefined;
  /** What others hold; kept where the store is asked to. */
  others: Shared<readonly OtherFields[]> | undefined;
  /** `fields` as they were before others took some of them; until one of our managers writes. */
  former: Shared<OwnedFields> | undefined;
  /** When we last changed it, as of this version and of the one before: see lastWriteOf. NEVER_SEEN when there was none before. */
  writtenAt: number;
  writtenBefore: number;
}

export const NEVER_SEEN = -1;

export interface HoldingsOptions {
  readonly hold?: Hold;
  /** The field managers of the operators that use this store. */
  readonly managers?: ReadonlySet<string>;
  /** Keep what other managers hold of the objects, but for the status. */
  readonly others?: boolean;
  readonly indexes?: Readonly<Record<string, IndexFunction>>;
}

export interface Holdings {
  readonly size: number;
  /** What of an object is kept. */
  trim(object: KubeObject): KubeObject;
  find(ref: Ref): Held | undefined;
  list(namespace?: string): Iterable<Held>;
  by(index: string, value: string): Iterable<Held>;
  /** Puts an object, written by ourselves or not, in the place of what is there; gives that back. */
  put(raw: KubeObject, own: boolean): { held: Held; old: KubeObject | undefined };
  remove(held: Held): void;
}

export function createHoldings(kind: Kind, options: HoldingsOptions): Holdings {
  const managers = options.managers ?? new Set<string>();
  const { hold = 'full', others = false } = options;
  const trim = createTrim({ hold, managers, others, intern: createInterner() });
  const pool = createSharedPool<OwnedFields>();
  const othersPool = createSharedPool<readonly OtherFields[]>();
  const namespaces = new Map<string, Map<string, Held>>();
  const indexes = new Map<string, ObjectIndex<Held>>();
  for (const [name, values] of Object.entries(options.indexes ?? {})) indexes.set(name, createObjectIndex(values));
  let size = 0;

  const find = (ref: Ref): Held | undefined => namespaces.get(ref.namespace ?? '')?.get(ref.name);

  function take(raw: KubeObject): Held {
    const object = trim(raw);
    const { managedFields, ...metadata } = object.metadata;
    const nothing = { fields: undefined, others: undefined, former: undefined };
    if (managedFields === undefined) return { object, ...nothing, writtenAt: 0, writtenBefore: NEVER_SEEN };
    const fields = ownedFields(managers, object);
    const theirs = otherFields(managedFields, (manager) => managers.has(manager));
    object.metadata = metadata;
    return {
      object,
      fields: fields === undefined ? undefined : pool.take(fields),
      others: theirs.length === 0 ? undefined : othersPool.take(theirs),
      former: undefined,
      writtenAt: lastWriteOf(managers, managedFields),
      writtenBefore: NEVER_SEEN,
    };
  }

  /** What was ours before somebody else's write, if that took something: our own entry is another, and no write of ours moved its time. */
  function formerOf(known: Held, next: Held): Held['former'] {
    if (next.writtenAt !== known.writtenAt) return undefined;
    const former = known.former ?? (next.fields === known.fields ? undefined : known.fields);
    return former === undefined ? undefined : pool.take(former.value);
  }

  function release(held: Held): void {
    pool.release(held.fields);
    pool.release(held.former);
    othersPool.release(held.others);
  }

  return {
    get size() {
      return size;
    },
    trim,
    find,
    *list(namespace) {
      if (namespace !== undefined) yield* namespaces.get(namespace)?.values() ?? [];
      else for (const names of namespaces.values()) yield* names.values();
    },
    by(name, value) {
      const index = indexes.get(name);
      if (index !== undefined) return index.get(value);
      throw new RangeError(`the store of ${kind.kind} has no index '${name}': name it where the store is made`);
    },
    put(raw, own) {
      const next = take(raw);
      const known = find(next.object.metadata);
      if (known !== undefined) {
        const old = known.object;
        for (const index of indexes.values()) index.remove(known, old);
        if (others && !own) next.former = formerOf(known, next);
        release(known);
        Object.assign(known, next, { writtenBefore: known.writtenAt });
        for (const index of indexes.values()) index.add(known, known.object);
        return { held: known, old };
      }
      const { namespace = '', name } = next.object.metadata;
      const names = namespaces.get(namespace) ?? new Map<string, Held>();
      if (names.size === 0) namespaces.set(namespace, names);
      names.set(name, next);
      for (const index of indexes.values()) index.add(next, next.object);
      size += 1;
      return { held: next, old: undefined };
    },
    remove(held) {
      const { namespace = '', name } = held.object.metadata;
      const names = namespaces.get(namespace);
      if (names?.delete(name) !== true) return;
      if (names.size === 0) namespaces.delete(namespace);
      for (const index of indexes.values()) index.remove(held, held.object);
      release(held);
      size -= 1;
    },
  };
}

/** What each of these managers has applied to the object. */
function ownedFields(managers: ReadonlySet<string>, object: KubeObject): OwnedFields | undefined {
  let owned: Record<string, NonNullable<ManagedFields['fieldsV1']>> | undefined;
  for (const manager of managers) {
    const fields = ownFields(object, manager);
    if (fields === undefined) continue;
    owned ??= {};
    owned[manager] = fields;
  }
  return owned;
}
