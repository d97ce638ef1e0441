/**
 * The cache of a process: the stores that its operators read, each fed by reflectors. Operators that ask for the same kind, scope
 * and projection share one store; it ends with its last user.
 *
 * Invariant: everything that is opened before `start` starts at the same moment, and nothing waits for anything else: a kind that
 * is not installed, or that we may not read, holds up nobody but those who need it. `reports` says how each store does.
 * Made by manager/; opened by controller/.
 */
import type { KubeClient, Reflect as ReflectKind } from '@keelson/kube';
import { apiVersionOf, type Kind, type KubeObject } from '@keelson/schema';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logging/logger.ts';
import { createFeed, type Feed, type FeedReport } from './feed.ts';
import { createStore, type MemoryStore, type Portion } from './memory-store.ts';
import type { IndexFunction } from './object-index.ts';
import { type Hold, nameOf } from './projection.ts';
import type { Store } from './store.ts';

export interface Scope {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface StoreRequest<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  readonly scope?: Scope;
  /** Only objects of these names, each followed by itself: the permission for a name allows that, and no more. */
  readonly names?: readonly string[];
  /** Not confined to the namespaces that the cache looks at. */
  readonly everywhere?: boolean;
  /** Default `full`. */
  readonly hold?: Hold;
  /** The field manager of whoever asks: its fields are kept apart for it. */
  readonly manager?: string;
  /** Keep what other managers hold of the objects, but for the status. */
  readonly others?: boolean;
  readonly indexes?: Readonly<Record<string, IndexFunction>>;
}

export interface StoreReport {
  readonly kind: Kind;
  readonly scope: Scope;
  readonly hold: string;
  readonly objects: number;
  readonly synced: boolean;
  /** How long after our last write the watch showed it. */
  readonly echoMs?: number;
  readonly feeds: readonly FeedReport[];
}

/** Whether the cluster knows the kind: served with a full picture of it, not served, or not known yet. */
export type Availability = 'unknown' | 'served' | 'not-served';

export interface OpenStore<T extends KubeObject = KubeObject> {
  readonly store: Store<T>;
  readonly availability: Availability;
  /** Hears of every other availability from now on; the returned function ends it. */
  onAvailability(listener: (availability: Availability) => void): () => void;
  report(): StoreReport;
  /** The store ends when all who opened it have closed it. */
  close(): void;
}

export interface Cache {
  open<T extends KubeObject>(request: StoreRequest<T>): OpenStore<T>;
  /** Starts to follow everything that is open or will be opened, until the signal is aborted. */
  start(signal: AbortSignal): void;
  reports(): readonly StoreReport[];
}

export interface CacheOptions {
  readonly client: KubeClient;
  readonly reflect: ReflectKind;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Look only at these namespaces; without it at all. Does not bear on cluster-scoped kinds. */
  readonly namespaces?: readonly string[];
  /** When a watch without a sign of life is stale. Bookmarks come about once a minute. Default 3 minutes. */
  readonly silentMs?: number;
  /** When a watch that is not connected is stale. Default 20 seconds. */
  readonly disconnectedMs?: number;
}

interface Entry {
  readonly id: string;
  readonly store: MemoryStore;
  readonly feeds: readonly Feed[];
  readonly managers: Set<string>;
  readonly stop: AbortController;
  readonly report: () => StoreReport;
  readonly availability: () => Availability;
  readonly listeners: Set<(availability: Availability) => void>;
  started: boolean;
  users: number;
}

export function createCache(options: CacheOptions): Cache {
  const { clock, logger, client, reflect, silentMs = 180_000, disconnectedMs = 20_000 } = options;
  const entries = new Map<string, Entry>();
  let running: AbortSignal | undefined;

  function create(id: string, request: StoreRequest): Entry {
    const { kind, hold = 'full', others = false, indexes = {} } = request;
    const managers = new Set<string>();
    const shares = toShares(request, request.everywhere === true ? [] : options.namespaces);
    let echoMs: number | undefined;
    const store = createStore(kind, {
      clock,
      hold,
      managers,
      others,
      indexes,
      feeds: shares.length,
      onEcho: (delayMs) => {
        echoMs = delayMs;
      },
    });
    const feeds = shares.map(({ selection, portion }) =>
      createFeed({
        client,
        reflect,
        clock,
        logger,
        kind,
        selection,
        portion,
        metadataOnly: hold === 'metadata',
        store,
        silentMs,
        disconnectedMs,
        onState: reconsider,
      }),
    );
    const listeners = new Set<(availability: Availability) => void>();
    let known: Availability = 'unknown';
    function reconsider(): void {
      const isServed = feeds.every(({ state }) => state !== 'not-served');
      const now = !isServed ? 'not-served' : store.synced ? 'served' : 'unknown';
      if (now === known) return;
      known = now;
      for (const listener of listeners) listener(now);
    }
    const report = (): StoreReport => ({
      kind,
      scope: request.scope ?? {},
      hold: nameOf(hold),
      objects: store.size,
      synced: store.synced,
      ...(echoMs === undefined ? {} : { echoMs }),
      feeds: feeds.map((feed) => feed.report()),
    });
    const availability = (): Availability => known;
    const stop = new AbortController();
    return { id, store, feeds, managers, stop, report, availability, listeners, started: false, users: 0 };
  }

  function begin(entry: Entry): void {
    if (running === undefined || entry.started) return;
    entry.started = true;
    const signal = AbortSignal.any([running, entry.stop.signal]);
    for (const feed of entry.feeds) void feed.run(signal);
  }

  return {
    open<T extends KubeObject>(request: StoreRequest<T>): OpenStore<T> {
      const id = toId(request as StoreRequest);
      const known = entries.get(id);
      // The fields of a manager are known only from what was read after it was named.
      const isUsable =
        known !== undefined && (!known.started || request.manager === undefined || known.managers.has(request.manager));
      const entry = isUsable
        ? known
        : create(known === undefined ? id : `${id} ${request.manager}`, request as StoreRequest);
      entries.set(entry.id, entry);
      if (request.manager !== undefined) entry.managers.add(request.manager);
      entry.users += 1;
      begin(entry);
      let isOpen = true;
      return {
        store: entry.store.view(request.manager) as unknown as Store<T>,
        report: entry.report,
        get availability() {
          return entry.availability();
        },
        onAvailability(listener) {
          // An identity of its own, so that one function may listen twice.
          const own = (availability: Availability): void => listener(availability);
          entry.listeners.add(own);
          return () => entry.listeners.delete(own);
        },
        close() {
          if (!isOpen) return;
          isOpen = false;
          entry.users -= 1;
          if (entry.users > 0) return;
          entry.stop.abort(new Error('nobody uses this store any more'));
          entries.delete(entry.id);
        },
      };
    },
    start(signal) {
      running = signal;
      for (const entry of entries.values()) begin(entry);
    },
    reports: () => [...entries.values()].map((entry) => entry.report()),
  };
}

/** What each feed of a store asks for, and what it shows. */
function toShares(
  { kind, scope = {}, names }: StoreRequest,
  namespaces: readonly string[] | undefined,
): readonly { readonly selection: Scope; readonly portion: Portion }[] {
  return toScopes(kind, scope, namespaces).flatMap((selection) => {
    const portion = selection.namespace === undefined ? {} : { namespace: selection.namespace };
    if (names === undefined) return [{ selection, portion }];
    return names.map((name) => ({ selection: { ...selection, ...byName(name) }, portion: { ...portion, name } }));
  });
}

/** Selects one object by its name, in the way that a permission for this name alone covers. */
export function byName(name: string): Pick<Scope, 'fieldSelector'> {
  return { fieldSelector: `metadata.name=${name}` };
}

function toScopes(kind: Kind, scope: Scope, namespaces: readonly string[] | undefined): readonly Scope[] {
  const { namespace, ...rest } = scope;
  if (kind.scope === 'Cluster') return [rest];
  if (namespace !== undefined || namespaces === undefined || namespaces.length === 0) return [scope];
  return namespaces.map((one) => ({ ...rest, namespace: one }));
}

function toId({
  kind,
  scope = {},
  names,
  everywhere = false,
  hold = 'full',
  others = false,
  indexes = {},
}: StoreRequest): string {
  const { namespace, labelSelector, fieldSelector } = scope;
  return JSON.stringify([
    apiVersionOf(kind),
    kind.plural,
    namespace,
    labelSelector,
    fieldSelector,
    names,
    everywhere,
    nameOf(hold),
    others,
    Object.keys(indexes).sort(),
  ]);
}
