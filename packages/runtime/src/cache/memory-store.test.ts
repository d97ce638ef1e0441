import { ConfigMap, type KubeObject, type ManagedFields } from '@keelson/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../testing/simulated-clock.ts';
import { createStore, type MemoryStore } from './memory-store.ts';
import { OWNER_UID, ownerUidIndex } from './object-index.ts';
import type { Store, StoreEvent } from './store.ts';

const CREATED = '2026-01-01T00:00:00Z';

function configMap(
  name: string,
  resourceVersion: string | number,
  more: Partial<KubeObject['metadata']> = {},
  data = {},
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'shop',
      uid: `uid-${name}`,
      creationTimestamp: CREATED,
      resourceVersion: `${resourceVersion}`,
      ...more,
    },
    data,
  };
}

/** What the API server answers when we apply: our entry carries the time of the write. */
function applied(second: number, manager = 'us'): { managedFields: ManagedFields[] } {
  const time = new Date(Date.parse(CREATED) + second * 1_000).toISOString().replace('.000', '');
  return {
    managedFields: [
      { manager: 'kubectl', operation: 'Update', time: CREATED, fieldsV1: { 'f:data': { 'f:theirs': {} } } },
      { manager, operation: 'Apply', time, fieldsV1: { 'f:data': { 'f:ours': {} } } },
    ],
  };
}

function open(options: { managers?: string[]; feeds?: number } = {}): {
  store: MemoryStore;
  us: Store;
  heard: StoreEvent[];
} {
  const store = createStore(ConfigMap, {
    clock: createSimulatedClock(),
    managers: new Set(options.managers ?? ['us']),
    feeds: options.feeds ?? 1,
    indexes: { [OWNER_UID]: ownerUidIndex },
  }) as MemoryStore;
  const us = store.view('us');
  const heard: StoreEvent[] = [];
  us.listen((event) => heard.push(event));
  return { store, us, heard };
}

describe('a store that keeps what others hold', () => {
  const entry = (manager: string, fields: object, time = CREATED, more = {}): ManagedFields => ({
    manager,
    operation: manager === 'us' ? 'Apply' : 'Update',
    time,
    fieldsV1: { 'f:data': fields },
    ...more,
  });
  const open = () => {
    const store = createStore(ConfigMap, { clock: createSimulatedClock(), managers: new Set(['us']), others: true });
    const us = store.view('us');
    const show = (version: number, managedFields: ManagedFields[]) =>
      store.change('MODIFIED', configMap('a', version, { managedFields }));
    const live = () => us.get({ namespace: 'shop', name: 'a' });
    store.replace([configMap('a', 1, { managedFields: [entry('us', { 'f:a': {}, 'f:b': {} })] })], '1');
    return { us, show, live };
  };
  const later = '2026-01-01T00:00:09Z';

  it('knows them, but for the status, and what was ours before they took it, until we write', () => {
    const { us, show, live } = open();
    expect(live()).toEqual({ object: live()?.object, fields: { 'f:data': { 'f:a': {}, 'f:b': {} } } });
    const status = { manager: 'kubelet', subresource: 'status', fieldsV1: { 'f:status': {} } };
    show(2, [entry('us', { 'f:b': {} }), entry('alice', { 'f:a': {} }, later), status]);
    show(3, [entry('us', {}), entry('alice', { 'f:a': {} }, later), status]);
    expect(live()).toMatchObject({
      fields: { 'f:data': {} },
      former: { 'f:data': { 'f:a': {}, 'f:b': {} } },
      others: [{ manager: 'alice', fields: { 'f:data': { 'f:a': {} } } }],
    });
    us.absorb(configMap('a', 4, { managedFields: [entry('us', { 'f:a': {} }, later)] }));
    expect(live()).toEqual({ object: live()?.object, fields: { 'f:data': { 'f:a': {} } } });
  });

  it('does not take what another process of ours gave up for taken', () => {
    const { show, live } = open();
    show(2, [entry('us', { 'f:a': {} }, later)]);
    expect(live()?.former).toBeUndefined();
  });
});

describe('a store that holds some fields only', () => {
  it('is up to date after a change of another field, and tells nobody', () => {
    const store = createStore(ConfigMap, { clock: createSimulatedClock(), hold: { fields: ['data.held'] } });
    const heard: StoreEvent[] = [];
    store.view().listen((event) => heard.push(event));
    store.replace([configMap('a', 1, {}, { held: '1', other: '1' })], '1');
    store.change('MODIFIED', configMap('a', 2, {}, { held: '1', other: '2' }));
    expect(heard.map(({ object }) => object.metadata.resourceVersion)).toEqual(['1']);
    expect(store.view().get({ namespace: 'shop', name: 'a' })?.object).toMatchObject({
      metadata: { resourceVersion: '2' },
      data: { held: '1' },
    });

    store.change('MODIFIED', configMap('a', 3, {}, { held: '2', other: '2' }));
    store.change('MODIFIED', configMap('a', 4, { labels: { app: 'x' } }, { held: '2', other: '3' }));
    expect(heard.map(({ object }) => object.metadata.resourceVersion)).toEqual(['1', '3', '4']);
  });

  it('of metadata alone tells of every change, since the version is all that it shows of the rest', () => {
    const store = createStore(ConfigMap, { clock: createSimulatedClock(), hold: 'metadata' });
    const heard: StoreEvent[] = [];
    store.view().listen((event) => heard.push(event));
    store.replace([configMap('a', 1)], '1');
    store.change('MODIFIED', configMap('a', 2));
    expect(heard).toHaveLength(2);
  });
});

const foreign = (events: StoreEvent[]): string[] =>
  events.filter((event) => !event.own).map((event) => `${event.type} ${event.object.metadata.resourceVersion}`);

describe('what the watch shows', () => {
  it('is held by namespace, name and index, and told to listeners in order', () => {
    const { store, us, heard } = open();
    store.replace([configMap('a', 5, { labels: { 'keelson.io/owner-uid': 'o1' } })], '10');
    store.change('ADDED', configMap('b', 11, { labels: { 'keelson.io/owner-uid': 'o1' } }));
    store.change('MODIFIED', configMap('b', 12, { labels: { 'keelson.io/owner-uid': 'o2' } }));
    store.change('DELETED', configMap('a', 13));

    expect(heard.map(({ type, object, initial }) => [type, object.metadata.name, initial])).toEqual([
      ['set', 'a', true],
      ['set', 'b', false],
      ['set', 'b', false],
      ['gone', 'a', false],
    ]);
    expect(us.get({ namespace: 'shop', name: 'b' })?.object.metadata.resourceVersion).toBe('12');
    expect([...us.by(OWNER_UID, 'o1')]).toEqual([]);
    expect([...us.by(OWNER_UID, 'o2')].map(({ object }) => object.metadata.name)).toEqual(['b']);
    expect([...us.list('shop')]).toHaveLength(1);
    expect([...us.list('elsewhere')]).toEqual([]);
    expect(us.size).toBe(1);
  });

  it('never takes an object back to an older version, and compares versions as integers of any length', () => {
    const { store, us, heard } = open();
    store.replace([configMap('a', '99999999999999999999')], '99999999999999999999');
    store.change('MODIFIED', configMap('a', '100000000000000000000'));
    store.change('MODIFIED', configMap('a', '99999999999999999999'));
    store.change('MODIFIED', configMap('a', '100000000000000000000'));

    expect(us.get({ namespace: 'shop', name: 'a' })?.object.metadata.resourceVersion).toBe('100000000000000000000');
    expect(heard).toHaveLength(2);
  });

  it('says nothing of objects that a relist finds unchanged, and that absent ones are gone', () => {
    const { store, heard } = open();
    store.replace([configMap('a', 5), configMap('b', 6), configMap('c', 7)], '10');
    heard.length = 0;
    store.replace([configMap('a', 5), configMap('b', 15)], '20');

    expect(heard.map(({ type, object, initial }) => [type, object.metadata.name, initial])).toEqual([
      ['set', 'b', false],
      ['gone', 'c', false],
    ]);
  });

  it('is believed when the server was restored from a backup and its versions start again from before', () => {
    const { store, us, heard } = open();
    store.replace([configMap('same', 5), configMap('newer', 6), configMap('deleted', 7)], '10');
    store.change('MODIFIED', configMap('newer', 20));
    store.change('DELETED', configMap('deleted', 21));
    store.change('ADDED', configMap('never', 22));
    heard.length = 0;
    const restored = [configMap('same', 5), configMap('newer', 6), configMap('deleted', 7)];
    store.replace(restored, '11');
    expect([...us.list()].map(({ object }) => object)).toEqual(expect.arrayContaining(restored));
    expect(us.size).toBe(3);
    expect(new Set(heard.map(({ object }) => object.metadata.name))).toEqual(new Set(['newer', 'deleted', 'never']));
    store.change('MODIFIED', configMap('newer', 12));
    expect(us.get({ namespace: 'shop', name: 'newer' })?.object.metadata.resourceVersion).toBe('12');
  });

  it('is taken for a new object when the uid differs', () => {
    const { store, heard } = open();
    store.replace([configMap('a', 5)], '10');
    heard.length = 0;
    store.change('ADDED', configMap('a', 20, { uid: 'another' }));
    store.change('DELETED', configMap('a', 15));

    expect(foreign(heard)).toEqual(['gone 5', 'set 20']);
  });

  it('is complete when every namespace that is fed apart has had its list', async () => {
    const { store, us } = open({ feeds: 2 });
    store.replace([], '1', { namespace: 'shop' });
    expect(us.synced).toBe(false);
    await expect(us.whenSynced(AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
    store.replace([], '1', { namespace: 'blog' });
    await us.whenSynced();
    expect(us.synced).toBe(true);
  });

  it('replaces only the namespace that the list is of', () => {
    const { store, us } = open({ feeds: 2 });
    store.replace([configMap('a', 5)], '10', { namespace: 'shop' });
    store.replace([configMap('b', 6, { namespace: 'blog' })], '10', { namespace: 'blog' });
    store.replace([], '11', { namespace: 'blog' });
    expect([...us.list()].map(({ object }) => object.metadata.name)).toEqual(['a']);
  });

  it('replaces only the name that the list is of, in whatever namespace', () => {
    const { store, us } = open({ feeds: 2 });
    store.replace([configMap('a', 5), configMap('a', 6, { namespace: 'blog', uid: 'other' })], '10', { name: 'a' });
    expect(us.synced).toBe(false);
    store.replace([configMap('b', 7)], '10', { name: 'b' });
    expect(us.synced).toBe(true);
    store.replace([configMap('a', 5)], '11', { name: 'a' });
    const held = () => [...us.list()].map(({ object: { metadata } }) => `${metadata.namespace}/${metadata.name}`);
    expect(held()).toEqual(['shop/a', 'shop/b']);
    store.change('DELETED', configMap('b', 12));
    expect(held()).toEqual(['shop/a']);
  });
});

describe('our own writes', () => {
  it('are read at once, with the fields that we own, and their echo wakes nobody', () => {
    const { store, us, heard } = open();
    store.replace([configMap('a', 5)], '10');
    heard.length = 0;
    us.absorb(configMap('a', 12, applied(60)));
    store.change('MODIFIED', configMap('a', 12, applied(60)));

    const live = us.get({ namespace: 'shop', name: 'a' });
    expect(live?.fields).toEqual({ 'f:data': { 'f:ours': {} } });
    expect(live?.object.metadata.managedFields).toBeUndefined();
    expect(foreign(heard)).toEqual([]);
  });

  it('are taken back when the watch showed them before their answer came, unless they changed nothing', () => {
    const { store, us, heard } = open();
    store.replace([configMap('a', 5)], '10');
    heard.length = 0;
    store.change('MODIFIED', configMap('a', 12, applied(60)));
    us.absorb(configMap('a', 12, applied(60)));
    expect(heard.map(({ object, own }) => [object.metadata.resourceVersion, own])).toEqual([
      ['12', false],
      ['12', true],
    ]);
    heard.length = 0;
    store.change('MODIFIED', configMap('a', 13, applied(60)));
    us.absorb(configMap('a', 13, applied(60)));
    expect(heard.map(({ own }) => own)).toEqual([false]);
    heard.length = 0;
    store.change('DELETED', configMap('a', 14));
    us.absorbGone(configMap('a', 13));
    expect(heard.map(({ type, own }) => [type, own])).toEqual([
      ['gone', false],
      ['gone', true],
    ]);
  });

  it('do not hide the edit of somebody else that they overtook', () => {
    const { store, us, heard } = open();
    store.replace([configMap('a', 5)], '10');
    heard.length = 0;
    us.absorb(configMap('a', 13, applied(60)));
    store.change('MODIFIED', configMap('a', 12));
    expect(foreign(heard)).toEqual(['set 13']);
    store.change('MODIFIED', configMap('a', 13, applied(60)));
    store.change('MODIFIED', configMap('a', 14));
    expect(foreign(heard)).toEqual(['set 13', 'set 14']);
  });

  it('that changed nothing and returned the version of somebody else do not hide that', () => {
    const { store, us, heard } = open();
    store.replace([configMap('a', 5, applied(0))], '10');
    heard.length = 0;
    us.absorb(configMap('a', 12, applied(0)));
    store.change('MODIFIED', configMap('a', 12, applied(0)));
    expect(foreign(heard)).toEqual(['set 12']);
  });

  it('that created an object are told from those that found one which the watch had not shown', () => {
    const { store, us, heard } = open();
    store.replace([], '10');
    us.absorb(configMap('made', 11, applied(0)));
    store.change('ADDED', configMap('made', 11, applied(0)));
    expect(foreign(heard)).toEqual([]);
    us.absorb(configMap('found', 13, applied(60)));
    store.change('ADDED', configMap('found', 13, applied(60)));
    expect(foreign(heard)).toEqual(['set 13']);
  });

  it('survive a list that was taken before them', () => {
    const { store, us, heard } = open();
    store.replace([], '10');
    us.absorb(configMap('a', 12, applied(0)));
    store.replace([], '11');
    expect(us.size).toBe(1);
    store.change('ADDED', configMap('a', 12, applied(0)));
    expect(foreign(heard)).toEqual([]);
  });

  it('wake once when a relist shows them, because it may have skipped an edit of somebody else', () => {
    const { store, us, heard } = open();
    store.replace([configMap('a', 5)], '10');
    heard.length = 0;
    us.absorb(configMap('a', 12, applied(60)));
    store.replace([configMap('a', 12, applied(60))], '20');
    store.replace([configMap('a', 12, applied(60))], '21');
    expect(foreign(heard)).toEqual(['set 12']);
  });

  it('reach other operators that share the store, once', () => {
    const { store, us, heard } = open({ managers: ['us', 'them'] });
    const them: StoreEvent[] = [];
    store.view('them').listen((event) => them.push(event));
    store.replace([configMap('a', 5)], '10');
    heard.length = 0;
    them.length = 0;
    us.absorb(configMap('a', 12, applied(60)));
    store.change('MODIFIED', configMap('a', 12, applied(60)));
    expect(foreign(them)).toEqual(['set 12']);
    expect(heard.map(({ own }) => own)).toEqual([true]);
    expect(store.view('them').get({ namespace: 'shop', name: 'a' })?.fields).toBeUndefined();
  });
});

describe('what is gone', () => {
  it('is not brought back by an event or answer from before', () => {
    const { store, us, heard } = open();
    store.replace([configMap('a', 5)], '10');
    us.absorbGone(configMap('a', 5));
    store.change('MODIFIED', configMap('a', 11));
    us.absorb(configMap('a', 5));
    expect(us.size).toBe(0);
    heard.length = 0;
    store.change('DELETED', configMap('a', 12));
    us.absorb(configMap('a', 11));
    expect(us.size).toBe(0);
    expect(heard).toEqual([]);
  });

  it('before we have the answer to our write, and is in no list, is told of and not held', () => {
    const { store, us, heard } = open();
    store.replace([], '10');
    store.replace([], '13');
    us.absorb(configMap('a', 11, applied(0)));
    expect(us.size).toBe(0);
    expect(heard.map(({ type, own }) => [type, own])).toEqual([['gone', false]]);
  });

  it('comes back when it re-enters the scope of the watch, or when we write to it', () => {
    const { store, us } = open();
    store.replace([configMap('a', 5), configMap('b', 6)], '10');
    store.change('DELETED', configMap('a', 11));
    store.change('ADDED', configMap('a', 12));
    expect(us.get({ namespace: 'shop', name: 'a' })).toBeDefined();
    us.absorbGone(configMap('b', 6));
    us.absorb(configMap('b', 14, applied(60)));
    expect(us.get({ namespace: 'shop', name: 'b' })).toBeDefined();
  });

  it('stays, and wakes, when our write overtook the event that says it left the scope', () => {
    const { store, us, heard } = open();
    store.replace([configMap('a', 5)], '10');
    us.absorb(configMap('a', 13, applied(60)));
    heard.length = 0;
    store.change('DELETED', configMap('a', 12));
    expect(us.size).toBe(1);
    expect(foreign(heard)).toEqual(['set 13']);
  });
});

it('says which index is missing', () => {
  const { us } = open();
  expect(() => [...us.by('nope', 'x')]).toThrow("no index 'nope'");
});

describe('any interleaving of a server, its watch and our writes', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('theirs' as const), name: fc.integer({ min: 0, max: 2 }) }),
    fc.record({ do: fc.constant('ours' as const), name: fc.integer({ min: 0, max: 2 }) }),
    fc.record({ do: fc.constant('delete' as const), name: fc.integer({ min: 0, max: 2 }), byUs: fc.boolean() }),
    fc.record({ do: fc.constant('deliver' as const) }),
    fc.record({ do: fc.constant('answer' as const) }),
    fc.record({ do: fc.constant('relist' as const) }),
  );

  it('ends in what the server holds, and every foreign change was heard of after it was readable', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { store, us } = open();
        const server = new Map<string, KubeObject>();
        const stream: { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: KubeObject }[] = [];
        let version = 100;
        let time = 0;
        store.replace([], `${version}`);
        /** Answers to our writes that are on their way to us. */
        const answers: (() => void)[] = [];
        /** The last version of each object that somebody else made, and the versions that listeners have not taken back. */
        const theirs = new Map<string, number>();
        const told = new Map<string, Set<number>>();
        us.listen((event) => {
          const { name, resourceVersion } = event.object.metadata;
          const versions = told.get(name) ?? new Set();
          told.set(name, versions);
          if (event.own) versions.delete(Number(resourceVersion));
          else versions.add(Number(resourceVersion));
        });

        for (const action of steps) {
          const name = 'name' in action ? `o${action.name}` : '';
          const known = server.get(name);
          version += 1;
          time += 1;
          if (action.do === 'theirs' || action.do === 'ours') {
            const at = new Date(Date.parse(CREATED) + time * 1_000).toISOString();
            const lastOwn = known?.metadata.managedFields ?? [];
            const object = configMap(name, version, {
              uid: known?.metadata.uid ?? `uid-${version}`,
              creationTimestamp: known?.metadata.creationTimestamp ?? at,
              managedFields:
                action.do === 'ours' ? [{ manager: 'us', operation: 'Apply', time: at, fieldsV1: {} }] : lastOwn,
            });
            server.set(name, object);
            stream.push({ type: known === undefined ? 'ADDED' : 'MODIFIED', object });
            if (action.do === 'ours') answers.push(() => us.absorb(object));
            else theirs.set(name, version);
          } else if (action.do === 'delete' && known !== undefined) {
            server.delete(name);
            stream.push({
              type: 'DELETED',
              object: { ...known, metadata: { ...known.metadata, resourceVersion: `${version}` } },
            });
            if (action.byUs) answers.push(() => us.absorbGone(known));
            theirs.delete(name);
          } else if (action.do === 'deliver') {
            const event = stream.shift();
            if (event !== undefined) store.change(event.type, event.object);
          } else if (action.do === 'answer') {
            answers.shift()?.();
          } else if (action.do === 'relist') {
            stream.length = 0;
            store.replace([...server.values()], `${version}`);
          }
        }
        for (const event of stream) store.change(event.type, event.object);
        for (const answer of answers) answer();

        const held = [...us.list()].map(({ object }) => [
          object.metadata.name,
          object.metadata.uid,
          object.metadata.resourceVersion,
        ]);
        const real = [...server.values()].map(({ metadata }) => [
          metadata.name,
          metadata.uid,
          metadata.resourceVersion,
        ]);
        expect(held.sort()).toEqual(real.sort());
        for (const [name, last] of theirs) expect(Math.max(...(told.get(name) ?? []))).toBeGreaterThanOrEqual(last);
        expect(us.size).toBe(server.size);
      }),
      { numRuns: 2_000 },
    );
  });
});
