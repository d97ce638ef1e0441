import type { KubeClient, Reflect as ReflectKind } from '@keelson/kube';
import { ConfigMap, defineResource, type KubeObject, Secret, Type } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { createCache } from '../cache/cache.ts';
import { createStore, type MemoryStore } from '../cache/memory-store.ts';
import { OWNER_UID, ownerUidIndex } from '../cache/object-index.ts';
import { apply } from '../decision.ts';
import { silentLogger } from '../logging/logger.ts';
import { marks } from '../marks.ts';
import { defineOperator, type Watch } from '../operator.ts';
import { createSimulatedClock } from '../testing/simulated-clock.ts';
import { createRouting } from './routing.ts';
import { openStores } from './stores.ts';

const Note = defineResource({
  group: 'routing.keelson.io',
  version: 'v1',
  kind: 'Note',
  scope: 'Namespaced',
  description: 'For routing.',
  spec: Type.Object({}),
  status: Type.Object({}),
});

function object(
  kind: string,
  name: string,
  resourceVersion: number,
  metadata: Partial<KubeObject['metadata']> = {},
): KubeObject {
  return {
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace: 'shop', uid: `${kind}-${name}`, resourceVersion: `${resourceVersion}`, ...metadata },
  };
}
const child = (name: string, resourceVersion: number, owner: string): KubeObject =>
  object('ConfigMap', name, resourceVersion, { labels: { [marks.ownerUid]: owner } });

function open() {
  const clock = createSimulatedClock();
  const managers = new Set(['note']);
  const primary = createStore(Note, { clock, managers });
  const owned = createStore(ConfigMap, { clock, managers, indexes: { [OWNER_UID]: ownerUidIndex } });
  const watched: MemoryStore = createStore(Secret, { clock }) as MemoryStore;
  const watch: Watch = { kind: Secret, relate: () => [] };
  const views = { primary: primary.view('note'), owned: owned.view('note') };
  const woken: string[] = [];
  const settled: string[] = [];
  const routing = createRouting(
    {
      primary: views.primary,
      owned: new Map([[ConfigMap, views.owned]]),
      watched: new Map([[watch, watched.view()]]),
      ownedBy: () => views.owned,
      watchedBy: () => watched.view(),
      reports: () => [],
      whenSynced: async () => undefined,
      close() {},
    } as unknown as Parameters<typeof createRouting>[0],
    {
      wake: (key, priority) => woken.push(`${key} ${priority}`),
      settle: (key, cause) => settled.push(`${key} ${cause}`),
    },
  );
  const told = (): string[] => woken.splice(0);
  return { primary, owned, watched, watch, views, routing, told, settled };
}

describe('routing', () => {
  it('wakes an instance when it comes, changes or goes; at the start without haste', () => {
    const { primary, told, routing } = open();
    primary.replace([object('Note', 'a', 1)], '1');
    expect(told()).toEqual(['shop/a background']);
    primary.change('ADDED', object('Note', 'b', 2));
    primary.change('MODIFIED', object('Note', 'b', 3));
    primary.change('DELETED', object('Note', 'a', 4));
    expect(told()).toEqual(['shop/b live', 'shop/b live', 'shop/a live']);
    expect([...routing.keys()]).toEqual(['shop/b']);
  });

  it('wakes the owner when a child changes, both owners when it changes hands, and nobody for our own writes', () => {
    const { primary, owned, views, told } = open();
    primary.replace([object('Note', 'a', 1), object('Note', 'b', 1)], '1');
    owned.replace([child('m', 1, 'Note-a')], '1');
    told();
    owned.change('MODIFIED', child('m', 2, 'Note-a'));
    expect(told()).toEqual(['shop/a live']);
    owned.change('MODIFIED', child('m', 3, 'Note-b'));
    expect(told().sort()).toEqual(['shop/a live', 'shop/b live']);
    owned.change('DELETED', child('m', 4, 'Note-b'));
    expect(told()).toEqual(['shop/b live']);
    views.owned.absorb(child('n', 5, 'Note-a'));
    views.primary.absorb(object('Note', 'a', 6));
    expect(told()).toEqual([]);
    owned.change('ADDED', child('x', 7, 'unknown'));
    expect(told()).toEqual([]);
  });

  it('takes the child of one that was deleted and made anew for nobody, by its uid', () => {
    const { primary, owned, told } = open();
    primary.replace([object('Note', 'a', 1)], '1');
    primary.change('DELETED', object('Note', 'a', 2));
    primary.change('ADDED', object('Note', 'a', 3, { uid: 'second' }));
    told();
    owned.change('ADDED', child('m', 4, 'Note-a'));
    expect(told()).toEqual([]);
    owned.change('ADDED', child('n', 5, 'second'));
    expect(told()).toEqual(['shop/a live']);
  });

  it('wakes whoever relates to an object, also when a change makes it unrelated, until the instance is gone', () => {
    const { primary, watched, watch, routing, told } = open();
    primary.replace([object('Note', 'a', 1)], '1');
    told();
    routing.relate({ namespace: 'shop', name: 'a' }, watch, [{ labels: { app: 'x' } }]);
    watched.replace([object('Secret', 's', 1, { labels: { app: 'x' } })], '1');
    expect(told()).toEqual(['shop/a background']);
    watched.change('MODIFIED', object('Secret', 's', 2, { labels: { app: 'y' } }));
    expect(told()).toEqual(['shop/a live']);
    watched.change('MODIFIED', object('Secret', 's', 3, { labels: { app: 'z' } }));
    expect(told()).toEqual([]);
    primary.change('DELETED', object('Note', 'a', 4));
    told();
    watched.change('MODIFIED', object('Secret', 's', 5, { labels: { app: 'x' } }));
    expect(told()).toEqual([]);
  });

  it('says that a change was the work of the key itself, before or after the watch shows it', () => {
    const { primary, owned, views, told, settled } = open();
    primary.replace([object('Note', 'a', 1)], '1');
    told();
    const time = '2026-01-01T00:00:00Z';
    const managedFields = [{ manager: 'note', operation: 'Apply' as const, time, fieldsV1: {} }];
    const made = child('m', 2, 'Note-a');
    Object.assign(made.metadata, { creationTimestamp: time, managedFields });
    owned.change('ADDED', made);
    expect(told()).toEqual(['shop/a live']);
    views.owned.absorb(made);
    expect(settled).toEqual(['shop/a ConfigMap-m@2']);
    owned.change('DELETED', child('m', 3, 'Note-a'));
    views.owned.absorbGone(made);
    expect(settled).toEqual(['shop/a ConfigMap-m@2', 'shop/a ConfigMap-m@gone']);
  });

  it('ends when it is closed', () => {
    const { primary, routing, told } = open();
    routing.close();
    primary.replace([object('Note', 'a', 1)], '1');
    expect(told()).toEqual([]);
  });
});

describe('the stores of an operator', () => {
  it('hold its instances, what carries its label, and what it watches as it asks; others are refused by name', () => {
    const cache = createCache({
      client: {} as KubeClient,
      reflect: (() => undefined) as unknown as ReflectKind,
      clock: createSimulatedClock(),
      logger: silentLogger,
    });
    const secrets: Watch<typeof Note> = {
      kind: Secret,
      relate: () => [],
      metadataOnly: true,
      scope: { labelSelector: 'a=b' },
    };
    const operator = defineOperator({
      name: 'note',
      resource: Note,
      owns: [ConfigMap],
      watches: [secrets],
      reconcile: () => apply<typeof Note>({ objects: [] }),
    });
    const stores = openStores(operator, cache);
    expect(stores.reports().map(({ kind, scope, hold }) => [kind.kind, scope, hold])).toEqual([
      ['Note', {}, 'full'],
      ['ConfigMap', { labelSelector: 'keelson.io/operator=note-operator' }, 'full'],
      ['Secret', { labelSelector: 'a=b' }, 'metadata'],
    ]);
    expect(stores.ownedBy({ ...ConfigMap })).toBe(stores.ownedBy(ConfigMap));
    expect(() => stores.ownedBy(Secret)).toThrow("operator note does not own Secret: add it to 'owns'");
    expect(() => stores.watchedBy({ ...secrets } as Watch)).toThrow(
      "operator note does not watch Secret: add it to 'watches'",
    );
    stores.close();
    expect(cache.reports()).toEqual([]);
  });
});
