/** What the cache concludes from the answers of the real API server about who wrote what. */
import { createClient, type KubeClient, loadConfig, reflect } from '@keelson/kube';
import { ConfigMap, Deployment, type KubeObject, manifest } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { silentLogger } from '../logging/logger.ts';
import { createCache } from './cache.ts';
import type { Store, StoreEvent } from './store.ts';

let env: TestEnv;
let client: KubeClient;
const stop = new AbortController();

beforeAll(async () => {
  env = await startTestEnv();
  client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
});
afterAll(async () => {
  stop.abort();
  await client?.close();
  await env?.stop();
});

const US = { fieldManager: 'us', force: true } as const;

async function open<K extends typeof ConfigMap | typeof Deployment>(
  kind: K,
): Promise<{ namespace: string; store: Store; foreign: StoreEvent[]; upTo: (object: KubeObject) => Promise<void> }> {
  const namespace = await env.createNamespace();
  const cache = createCache({ client, reflect, clock: systemClock, logger: silentLogger });
  const store = cache.open({ kind: kind as typeof ConfigMap, scope: { namespace }, manager: 'us' })
    .store as unknown as Store;
  cache.start(stop.signal);
  await store.whenSynced(AbortSignal.timeout(10_000));
  const foreign: StoreEvent[] = [];
  // As the controller does it: what turns out to be our own is taken back.
  store.listen((event) => {
    const { uid, resourceVersion } = event.object.metadata;
    const known = foreign.findIndex(
      ({ type, object: { metadata } }) =>
        type === event.type &&
        metadata.uid === uid &&
        (type === 'gone' || metadata.resourceVersion === resourceVersion),
    );
    if (!event.own) foreign.push(event);
    else if (known !== -1) foreign.splice(known, 1);
  });
  /** Resolves when the watch has certainly shown everything up to this object: a mark written later has arrived. */
  const upTo = async (object: KubeObject): Promise<void> => {
    const name = `mark-${object.metadata.resourceVersion}`;
    const mark = {
      apiVersion: object.apiVersion,
      kind: object.kind,
      metadata: { name, namespace },
      ...('spec' in object ? { spec: object.spec } : {}),
    };
    await client.create(kind as typeof ConfigMap, mark as unknown as ConfigMap);
    while (store.get({ name, namespace }) === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    foreign.splice(0, foreign.length, ...foreign.filter((event) => !event.object.metadata.name.startsWith('mark-')));
  };
  return { namespace, store, foreign, upTo };
}

const config = (namespace: string, data: Record<string, string>) =>
  manifest(ConfigMap, { name: 'a', namespace }, { data });

/** managedFields times are in seconds: two writes within one cannot be told apart, and then wake, which is safe. */
const nextSecond = () => new Promise((resolve) => setTimeout(resolve, 1_001 - (Date.now() % 1_000)));

describe('on a real API server', () => {
  it('our applies are read at once and wake nobody; the edits of others do', async () => {
    const { namespace, store, foreign, upTo } = await open(ConfigMap);
    await nextSecond();
    const made = await client.apply(ConfigMap, config(namespace, { a: '1' }), US);
    store.absorb(made);
    await nextSecond();
    const changed = await client.apply(ConfigMap, config(namespace, { a: '2' }), US);
    store.absorb(changed);
    expect(store.get({ name: 'a', namespace })).toMatchObject({
      object: { data: { a: '2' } },
      fields: { 'f:data': { 'f:a': {} } },
    });
    await upTo(changed);
    expect(foreign).toEqual([]);

    const edited = await client.patch(
      ConfigMap,
      { name: 'a', namespace },
      { type: 'merge', value: { data: { b: '3' } } },
    );
    await upTo(edited);
    expect(foreign.map(({ object }) => object.metadata.resourceVersion)).toEqual([edited.metadata.resourceVersion]);
  });

  it('an apply that changes nothing does not hide the edit whose version it returns', async () => {
    const { namespace, store, foreign, upTo } = await open(ConfigMap);
    const made = await client.apply(ConfigMap, config(namespace, { a: '1' }), US);
    store.absorb(made);
    await upTo(made);
    foreign.length = 0;
    await nextSecond();
    const edited = await client.patch(
      ConfigMap,
      { name: 'a', namespace },
      { type: 'merge', value: { data: { b: '3' } } },
    );
    const again = await client.apply(ConfigMap, config(namespace, { a: '1' }), US);
    expect(again.metadata.resourceVersion).toBe(edited.metadata.resourceVersion);
    store.absorb(again);
    await upTo(again);
    expect(foreign.length).toBeGreaterThan(0);
  });

  it('an edit that our apply overtakes is heard of', async () => {
    const { namespace, store, foreign, upTo } = await open(ConfigMap);
    const made = await client.apply(ConfigMap, config(namespace, { a: '1' }), US);
    store.absorb(made);
    await upTo(made);
    foreign.length = 0;
    await nextSecond();
    await client.patch(ConfigMap, { name: 'a', namespace }, { type: 'merge', value: { data: { b: '3' } } });
    const ours = await client.apply(ConfigMap, config(namespace, { a: '2' }), US);
    store.absorb(ours);
    await upTo(ours);
    expect(foreign.length).toBeGreaterThan(0);
    expect(store.get({ name: 'a', namespace })?.object.data).toEqual({ a: '2', b: '3' });
  });

  it('what we delete is gone at once, and its name can be used anew', async () => {
    const { namespace, store, foreign, upTo } = await open(ConfigMap);
    const made = await client.apply(ConfigMap, config(namespace, { a: '1' }), US);
    store.absorb(made);
    await client.delete(ConfigMap, { name: 'a', namespace });
    store.absorbGone(made);
    expect(store.get({ name: 'a', namespace })).toBeUndefined();
    const second = await client.create(ConfigMap, config(namespace, { a: 'theirs' }));
    await upTo(second);
    expect(store.get({ name: 'a', namespace })?.object.metadata.uid).toBe(second.metadata.uid);
    expect(foreign.some(({ object }) => object.metadata.uid === second.metadata.uid)).toBe(true);
  });

  it('a status that somebody else writes between our read and our write is heard of', async () => {
    const { namespace, store, foreign, upTo } = await open(Deployment);
    const labels = { app: 'a' };
    const deployment = (replicas: number) =>
      manifest(
        Deployment,
        { name: 'a', namespace },
        {
          spec: {
            replicas,
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } },
          },
        },
      );
    const made = await client.apply(Deployment, deployment(1), US);
    store.absorb(made);
    await upTo(made);
    foreign.length = 0;
    await nextSecond();
    await client.patch(
      Deployment,
      { name: 'a', namespace },
      { type: 'merge', value: { status: { replicas: 1 } } },
      { subresource: 'status' },
    );
    const ours = await client.apply(Deployment, deployment(2), US);
    store.absorb(ours);
    await upTo(ours);
    expect(foreign.length).toBeGreaterThan(0);
  });
});
