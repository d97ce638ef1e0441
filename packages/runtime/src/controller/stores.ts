/**
 * The stores that one operator needs: its instances, what it owns (by its label) and what it watches. What it declares optional
 * may be missing from the cluster: nobody waits for it, and whoever listens hears when it comes and when it goes.
 */
import { type Kind, type Resource, resourceNameOf } from '@keelson/schema';
import { operatorBug } from '../bug.ts';
import type { Cache, OpenStore, StoreReport } from '../cache/cache.ts';
import { OWNER_UID, ownerUidIndex } from '../cache/object-index.ts';
import { holdOf } from '../cache/projection.ts';
import type { Store } from '../cache/store.ts';
import { operatorSelector } from '../marks.ts';
import type { Operator, Watch } from '../operator.ts';

export interface OperatorStores {
  readonly primary: Store;
  readonly owned: ReadonlyMap<Kind, Store>;
  readonly watched: ReadonlyMap<Watch, Store>;
  /** The store of an owned kind, however its value was made. */
  ownedBy(kind: Kind): Store;
  watchedBy(watch: Watch): Store;
  /** Whether the cluster has a kind that the operator owns or watches. */
  isServed(kind: Kind): boolean;
  reports(): readonly StoreReport[];
  /** Resolves when every store has had its first full list, or is optional and known to be missing. */
  whenComplete(signal: AbortSignal): Promise<void>;
  /** Those that `whenComplete` waits for. */
  missing(): readonly Kind[];
  /** Hears when a kind comes or goes; the returned function ends it. */
  onServed(listener: () => void): () => void;
  close(): void;
}

export function openStores(operator: Operator<Resource, unknown>, cache: Cache): OperatorStores {
  const manager = operator.fieldManager;
  const opened: { readonly kind: Kind; readonly one: OpenStore; readonly optional: boolean }[] = [];
  const open = (request: Parameters<Cache['open']>[0], optional = false): Store => {
    const one = cache.open(request);
    opened.push({ kind: request.kind, one, optional });
    return one.store;
  };
  const labelSelector = operatorSelector(manager);
  const stores = {
    primary: open({ kind: operator.resource as Kind, manager }),
    owned: new Map(
      operator.owns.map(({ kind, anywhere, optional, names }) => [
        kind,
        open(
          {
            kind,
            manager,
            others: true,
            scope: { labelSelector },
            ...(names === undefined ? {} : { names }),
            everywhere: anywhere === true,
            indexes: { [OWNER_UID]: ownerUidIndex },
          },
          optional,
        ),
      ]),
    ),
    watched: new Map(
      operator.watches.map((watch) => [
        watch,
        open(
          {
            kind: watch.kind,
            hold: holdOf(watch),
            ...(watch.scope === undefined ? {} : { scope: watch.scope }),
          },
          watch.optional,
        ),
      ]),
    ),
  };
  const isMissing = ({ one, optional }: (typeof opened)[number]): boolean =>
    optional ? one.availability === 'unknown' : !one.store.synced;
  return {
    ...stores,
    ownedBy(kind) {
      const store = stores.owned.get(kind) ?? [...stores.owned].find(([one]) => isSameKind(one, kind))?.[1];
      if (store !== undefined) return store;
      throw operatorBug(`operator ${operator.name} does not own ${kind.kind}: add it to 'owns'`);
    },
    watchedBy(watch) {
      const store = stores.watched.get(watch);
      if (store !== undefined) return store;
      throw operatorBug(`operator ${operator.name} does not watch ${watch.kind.kind}: add it to 'watches'`);
    },
    isServed(kind) {
      const same = opened.filter((other) => isSameKind(other.kind, kind));
      if (same.length > 0) return same.every(({ one }) => one.availability === 'served');
      throw operatorBug(`operator ${operator.name} asks whether ${kind.kind} is served: add it to 'owns' or 'watches'`);
    },
    reports: () => opened.map(({ one }) => one.report()),
    missing: () => opened.filter(isMissing).map(({ kind }) => kind),
    async whenComplete(signal) {
      await Promise.all(
        opened.map(({ one, optional }) => (optional ? whenKnown(one, signal) : one.store.whenSynced(signal))),
      );
    },
    onServed(listener) {
      const ends = opened.map(({ one }) => one.onAvailability(listener));
      return () => {
        for (const end of ends) end();
      };
    },
    close() {
      for (const { one } of opened) one.close();
    },
  };
}

function isSameKind(a: Kind, b: Kind): boolean {
  return resourceNameOf(a) === resourceNameOf(b) && a.version === b.version;
}

/** Resolves when it is known whether there is such a kind, and what there is of it. */
function whenKnown(one: OpenStore, signal: AbortSignal): Promise<void> {
  if (one.availability !== 'unknown') return Promise.resolve();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const end = one.onAvailability(() => resolve());
  const stop = (): void => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  return promise.finally(() => {
    end();
    signal.removeEventListener('abort', stop);
  });
}
