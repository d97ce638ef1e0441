/**
 * The store that caches are made of. A reflector feeds it (`replace`, `change`); operators read it and absorb their own writes
 * through a view each, so that what one of them writes reaches the others at once and its echo in the watch reaches nobody.
 *
 * Keeps the invariants of store.ts: the rules are in `sight` (what the watch shows) and `absorb` (what we wrote).
 * Called by cache.ts and, alone, by tests.
 */
import { compareResourceVersions, isOlder, orAborted } from '@keelson/kube';
import type { Kind, KubeObject } from '@keelson/schema';
import type { Clock } from '../clock.ts';
import { createHoldings, type Held, type HoldingsOptions, NEVER_SEEN } from './holdings.ts';
import { createOwnWrites } from './own-writes.ts';
import { isOutside } from './projection.ts';
import type { Live, Store, StoreEvent } from './store.ts';
import { createTombstones } from './tombstones.ts';

export interface MemoryStoreOptions extends HoldingsOptions {
  readonly clock: Clock;
  /** How many namespaces or names are fed apart: synced when each had its first `replace`. Default 1. */
  readonly feeds?: number;
  /** Told how long after an own write the watch showed it. */
  readonly onEcho?: (delayMs: number) => void;
}

export interface MemoryStore<T extends KubeObject = KubeObject> {
  readonly synced: boolean;
  readonly size: number;
  /** A full picture as of a resourceVersion, of everything or of what this feed shows. */
  replace(items: readonly KubeObject[], resourceVersion: string, portion?: Portion): void;
  /** One event of a watch. */
  change(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void;
  /** What of an object is kept: for the reflector, so that a list is small before it is complete. */
  trim(object: KubeObject): KubeObject;
  /** The store as the operator with this field manager sees it. */
  view(manager?: string): Store<T>;
}

/** What one feed of several shows: a namespace, what has one name, or both. */
export interface Portion {
  readonly namespace?: string;
  readonly name?: string;
}

/** A store that is fed by hand; cache.ts feeds it from reflectors. */
export function createStore<T extends KubeObject = KubeObject>(
  kind: Kind<T>,
  options: MemoryStoreOptions,
): MemoryStore<T> {
  const { clock, feeds = 1, hold = 'full' } = options;
  const holdings = createHoldings(kind, options);
  let tombstones = createTombstones(clock);
  let ownWrites = createOwnWrites();
  const listeners = new Map<(event: StoreEvent<T>) => void, Store<T>>();
  /** Up to which version each feed has shown everything; by what it shows if there are several. */
  const shownUpTo = new Map<string, string>();
  const synced = Promise.withResolvers<void>();

  function emit(event: Omit<StoreEvent, 'own'>, writer?: Store<T>): void {
    for (const [listener, view] of listeners) listener({ ...event, own: view === writer } as StoreEvent<T>);
  }

  function set(raw: KubeObject, initial: boolean, writer?: Store<T>): Held {
    const { held, old } = holdings.put(raw, writer !== undefined);
    if (writer === undefined && old !== undefined && isOutside(hold, old, held.object)) return held;
    emit({ type: 'set', object: held.object, ...(old === undefined ? {} : { old }), initial }, writer);
    return held;
  }

  function drop(held: Held, writer?: Store<T>): void {
    holdings.remove(held);
    if (held.object.metadata.uid !== undefined) ownWrites.forget(held.object.metadata.uid);
    emit({ type: 'gone', object: held.object, old: held.object, initial: false }, writer);
  }

  /** Somebody wrote to it, and we hold something newer already. */
  function touch(held: Held): void {
    emit({ type: 'set', object: held.object, old: held.object, initial: false });
  }

  function take(raw: KubeObject, initial: boolean, inList: boolean): void {
    const held = set(raw, initial);
    // A list may have skipped versions: what came before this one is not known, so it proves nothing.
    if (inList) held.writtenBefore = held.writtenAt;
  }

  /** What the watch or a list shows of an object that lives. */
  function sight(raw: KubeObject, initial: boolean, inList: boolean): void {
    const { uid, resourceVersion = '' } = raw.metadata;
    if (tombstones.hidesSighting(uid, resourceVersion)) return;
    const held = holdings.find(raw.metadata);
    if (held === undefined || held.object.metadata.uid !== uid) {
      if (held !== undefined) {
        if (isOlder(resourceVersion, versionOf(held))) return;
        // Made anew under the name of one whose end we did not see.
        drop(held);
      }
      take(raw, initial, inList);
      return;
    }
    const seen = uid === undefined ? undefined : ownWrites.sight(uid, resourceVersion);
    if (seen?.wroteAt !== undefined) options.onEcho?.(clock.monotonic() - seen.wroteAt);
    // A list may have skipped somebody else's version that came before ours, so there an echo proves nothing.
    if (seen?.sighting === 'replay' || (seen?.sighting === 'echo' && !inList)) return;
    const isNewer = !(compareResourceVersions(resourceVersion, versionOf(held)) <= 0);
    if (isNewer) take(raw, initial, inList);
    else if (seen !== undefined) touch(held);
  }

  function sightGone(object: KubeObject): void {
    const { uid, resourceVersion = '' } = object.metadata;
    const held = holdings.find(object.metadata);
    if (held !== undefined && held.object.metadata.uid === uid) {
      // It left the scope of the watch and our write brought it back: somebody touched it.
      if (isOlder(resourceVersion, versionOf(held))) {
        touch(held);
        return;
      }
      drop(held);
    }
    tombstones.shown(uid, resourceVersion);
  }

  /** The objects of a feed. */
  function heldBy({ namespace, name }: Portion): Held[] {
    const held = [...holdings.list(namespace)];
    return name === undefined ? held : held.filter(({ object }) => object.metadata.name === name);
  }

  /** The feed that shows this object. */
  function feedOf({ namespace = '', name }: KubeObject['metadata']): string {
    if (shownUpTo.has('')) return '';
    const several = [namespace, toFeed({ name }), toFeed({ namespace, name })];
    return several.find((feed) => shownUpTo.has(feed)) ?? '';
  }

  function replace(items: readonly KubeObject[], resourceVersion: string, portion: Portion = {}): void {
    const feed = toFeed(portion);
    const shown = shownUpTo.get(feed);
    const initial = shown === undefined;
    if (shown !== undefined && isOlder(resourceVersion, shown)) rewind(items, portion);
    const present = new Set<string>();
    for (const item of items) {
      present.add(item.metadata.uid ?? '');
      sight(item, initial, true);
    }
    for (const held of heldBy(portion)) {
      // What we made after the list was taken is not in it, and is not gone.
      if (present.has(held.object.metadata.uid ?? '') || isOlder(resourceVersion, versionOf(held))) continue;
      tombstones.shown(held.object.metadata.uid, resourceVersion);
      drop(held);
    }
    shownUpTo.set(feed, resourceVersion);
    if (shownUpTo.size >= feeds) synced.resolve();
  }

  /** The server was restored from a backup: what we know of versions after that is of a history that never was. */
  function rewind(items: readonly KubeObject[], portion: Portion): void {
    tombstones = createTombstones(clock);
    ownWrites = createOwnWrites();
    const versions = new Map(items.map(({ metadata }) => [metadata.uid, metadata.resourceVersion]));
    for (const held of heldBy(portion))
      if (versions.get(held.object.metadata.uid) !== held.object.metadata.resourceVersion) drop(held);
  }

  function change(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void {
    if (type === 'DELETED') sightGone(object);
    else sight(object, false, false);
    const { resourceVersion = '' } = object.metadata;
    const feed = feedOf(object.metadata);
    if (isOlder(shownUpTo.get(feed) ?? '', resourceVersion)) shownUpTo.set(feed, resourceVersion);
  }

  /** True when the watch is past this version: an object of it that is not held has gone since. */
  function isPast({ metadata }: KubeObject): boolean {
    const { resourceVersion = '' } = metadata;
    const shown = shownUpTo.get(feedOf(metadata)) ?? '';
    return resourceVersion === shown || isOlder(resourceVersion, shown);
  }

  function absorb(raw: KubeObject, writer: Store<T>): void {
    const { uid, resourceVersion = '' } = raw.metadata;
    if (tombstones.hidesAnswer(uid, resourceVersion)) return;
    const before = holdings.find(raw.metadata);
    if (before !== undefined && before.object.metadata.uid !== uid) {
      if (isOlder(resourceVersion, versionOf(before))) return;
      drop(before, writer);
    } else if (before !== undefined) {
      const order = compareResourceVersions(resourceVersion, versionOf(before));
      // The watch was faster than the answer: those who heard of it as somebody else's are told that it was ours.
      if (order === 0 && isProven(before)) disown(before.object, 'set', writer);
      if (order <= 0) return;
    } else if (isPast(raw)) {
      // Somebody removed what we made before we had the answer, and a list never showed it: nobody has heard of that.
      emit({ type: 'gone', object: raw, old: raw, initial: false });
      return;
    }
    tombstones.raise(uid);
    const base = holdings.find(raw.metadata)?.object.metadata.resourceVersion ?? '0';
    const held = set(raw, false, writer);
    if (uid !== undefined) ownWrites.wrote(uid, resourceVersion, base, isProven(held), clock.monotonic());
  }

  function absorbGone(object: KubeObject, writer: Store<T>): void {
    const { uid, resourceVersion = '' } = object.metadata;
    const held = holdings.find(object.metadata);
    if (held !== undefined && held.object.metadata.uid === uid) {
      tombstones.made(uid, isOlder(resourceVersion, versionOf(held)) ? versionOf(held) : resourceVersion);
      drop(held, writer);
    } else if (tombstones.hidesAnswer(uid, resourceVersion)) {
      disown(object, 'gone', writer);
    } else {
      tombstones.made(uid, resourceVersion);
    }
  }

  /** Takes back what the writer's listeners were told before its answer came. */
  function disown(object: KubeObject, type: StoreEvent['type'], writer: Store<T>): void {
    for (const [listener, view] of listeners)
      if (view === writer)
        listener({ type, object, old: object, initial: false, own: true } as unknown as StoreEvent<T>);
  }

  function createView(manager?: string): Store<T> {
    const toLive = (held: Held): Live<T> => {
      const of = (owned: Held['fields']) => (manager === undefined ? undefined : owned?.value[manager]);
      const [fields, former] = [of(held.fields), of(held.former)];
      return {
        object: held.object as T,
        ...(fields === undefined ? {} : { fields }),
        ...(former === undefined ? {} : { former }),
        ...(held.others === undefined ? {} : { others: held.others.value }),
      };
    };
    const view: Store<T> = {
      kind,
      get synced() {
        return shownUpTo.size >= feeds;
      },
      get size() {
        return holdings.size;
      },
      whenSynced: (signal) => orAborted(synced.promise, signal),
      get(ref) {
        const held = holdings.find(ref);
        return held === undefined ? undefined : toLive(held);
      },
      *list(namespace) {
        for (const held of holdings.list(namespace)) yield toLive(held);
      },
      *by(index, value) {
        for (const held of holdings.by(index, value)) yield toLive(held);
      },
      absorb: (object) => absorb(object, view),
      absorbGone: (object) => absorbGone(object, view),
      listen(listener) {
        // An identity of its own, so that one function may listen through two views.
        const own = (event: StoreEvent<T>): void => listener(event);
        listeners.set(own, view);
        return () => listeners.delete(own);
      },
    };
    return view;
  }

  return {
    get synced() {
      return shownUpTo.size >= feeds;
    },
    get size() {
      return holdings.size;
    },
    replace,
    change,
    trim: holdings.trim,
    view: createView,
  };
}

/**
 * True when this version is certainly the work of one of our managers: the time of its last write has moved; or, of an object that
 * was not known before, it is the time of its creation.
 */
function isProven({ object, writtenAt, writtenBefore }: Held): boolean {
  if (writtenAt === 0) return false;
  if (writtenBefore !== NEVER_SEEN) return writtenAt !== writtenBefore;
  return writtenAt === Math.floor(Date.parse(object.metadata.creationTimestamp ?? '') / 1_000);
}

const versionOf = (held: Held): string => held.object.metadata.resourceVersion ?? '';

/** One word for what a feed shows; empty for everything. Namespaces have no slashes. */
function toFeed({ namespace = '', name }: Portion): string {
  return name === undefined ? namespace : `${namespace}/${name}`;
}
