/**
 * Routing: from a change in a store to the keys that must look at it. An event is a hint, never an input: all that is passed on
 * is a key and how urgent it is.
 *
 * Invariant: whatever an instance has seen in its last reconcile wakes it when somebody else changes it: itself, what it owns
 * (by the owner's uid), what it relates to. Its own writes wake others, never itself.
 */
import { type KubeObject, type Ref, resourceNameOf } from '@keelson/schema';
import { ownerUid } from '../cache/object-index.ts';
import type { StoreEvent } from '../cache/store.ts';
import { type Key, toKey } from '../key.ts';
import type { Related, Watch } from '../operator.ts';
import type { Priority } from '../queue/queue.ts';
import { createRelations, type Relations } from '../relations/relations.ts';
import type { OperatorStores } from './stores.ts';

export interface Routing {
  /** Takes note of what an instance relates to through a watch. */
  relate(ref: Ref, watch: Watch, related: readonly Related[]): void;
  /** Keys of all instances. */
  keys(): Iterable<Key>;
  close(): void;
}

/** What is done about a change; `cause` names the object and its version. */
export interface Waking {
  /** Somebody else changed something that this key has to look at. */
  wake(key: Key, priority: Priority, cause: string): void;
  /** It was this key itself that did it. */
  settle(key: Key, cause: string): void;
}

/** Tells of each key that a change concerns, from now on. */
export function createRouting(stores: OperatorStores, waking: Waking): Routing {
  /** By uid, because that is what children name, and a name may be used anew. */
  const keyByUid = new Map<string, Key>();
  const relations = new Map<Watch, Relations>(
    [...stores.watched.keys()].map((watch) => [watch, createRelations(watch.kind)]),
  );

  function onInstance(event: StoreEvent): void {
    const { uid } = event.object.metadata;
    const key = toKey(event.object.metadata);
    if (event.type === 'gone') {
      if (uid !== undefined) keyByUid.delete(uid);
      for (const one of relations.values()) one.clear(key);
    } else if (uid !== undefined) keyByUid.set(uid, key);
    tell(key, event);
  }

  function tell(key: Key, event: StoreEvent): void {
    const { uid, resourceVersion } = event.object.metadata;
    const cause = `${uid}@${event.type === 'gone' ? 'gone' : resourceVersion}`;
    if (event.own) waking.settle(key, cause);
    else waking.wake(key, event.initial ? 'background' : 'live', cause);
  }

  function onChild(event: StoreEvent): void {
    // At the start every instance is looked at anyway.
    if (event.initial) return;
    const owners = new Set([ownerUid(event.object), event.old === undefined ? undefined : ownerUid(event.old)]);
    for (const uid of owners) {
      const key = uid === undefined ? undefined : keyByUid.get(uid);
      if (key !== undefined) tell(key, event);
    }
  }

  function onRelated({ kind }: Watch, one: Relations, event: StoreEvent): void {
    const keys = new Set(one.interested(event.object));
    if (event.old !== undefined && event.old !== event.object)
      for (const key of one.interested(event.old)) keys.add(key);
    // An instance is told of itself as an instance, above.
    if (resourceNameOf(kind) === resourceNameOf(stores.primary.kind)) keys.delete(toKey(event.object.metadata));
    for (const key of keys) tell(key, event);
  }

  const ends = [stores.primary.listen(onInstance)];
  for (const store of stores.owned.values()) ends.push(store.listen(onChild));
  for (const [watch, store] of stores.watched) {
    const one = relations.get(watch);
    if (one !== undefined) ends.push(store.listen((event) => onRelated(watch, one, event)));
  }

  return {
    relate: (ref, watch, related) => relations.get(watch)?.set(toKey(ref), related, ref.namespace),
    *keys() {
      for (const { object } of stores.primary.list()) yield toKey((object as KubeObject).metadata);
    },
    close() {
      for (const end of ends) end();
    },
  };
}
