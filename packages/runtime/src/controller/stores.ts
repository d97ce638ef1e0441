/** The stores that one operator needs: its instances, what it owns (by its label) and what it watches. */
import { type Kind, type Resource, resourceNameOf } from '@keelson/schema';
import { operatorBug } from '../bug.ts';
import type { Cache, OpenStore, StoreReport } from '../cache/cache.ts';
import { OWNER_UID, ownerUidIndex } from '../cache/object-index.ts';
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
  reports(): readonly StoreReport[];
  /** Resolves when every store has had its first full list. */
  whenSynced(signal: AbortSignal): Promise<void>;
  close(): void;
}

export function openStores(operator: Operator<Resource, unknown>, cache: Cache): OperatorStores {
  const manager = operator.fieldManager;
  const opened: OpenStore[] = [];
  const open = (request: Parameters<Cache['open']>[0]): Store => {
    const one = cache.open(request);
    opened.push(one);
    return one.store;
  };
  const labelSelector = operatorSelector(manager);
  const stores = {
    primary: open({ kind: operator.resource as Kind, manager }),
    owned: new Map(
      operator.owns.map(({ kind }) => [
        kind,
        open({ kind, manager, scope: { labelSelector }, indexes: { [OWNER_UID]: ownerUidIndex } }),
      ]),
    ),
    watched: new Map(
      operator.watches.map((watch) => [
        watch,
        open({
          kind: watch.kind,
          hold: watch.metadataOnly === true ? 'metadata' : 'full',
          ...(watch.scope === undefined ? {} : { scope: watch.scope }),
        }),
      ]),
    ),
  };
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
    reports: () => opened.map((one) => one.report()),
    async whenSynced(signal) {
      await Promise.all(opened.map(({ store }) => store.whenSynced(signal)));
    },
    close() {
      for (const one of opened) one.close();
    },
  };
}

function isSameKind(a: Kind, b: Kind): boolean {
  return resourceNameOf(a) === resourceNameOf(b) && a.version === b.version;
}
