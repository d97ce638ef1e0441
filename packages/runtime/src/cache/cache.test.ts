import {
  Fault,
  type KubeClient,
  type Reflect as ReflectKind,
  type ReflectorOptions,
  type ReflectorState,
} from '@keelson/kube';
import { ConfigMap, type Kind, type KubeObject, Namespace } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../logging/logger.ts';
import { createSimulatedClock } from '../testing/simulated-clock.ts';
import { type Cache, type CacheOptions, createCache } from './cache.ts';

/** Reflectors whose states the test hands out one by one. */
function scripted() {
  const opened: {
    kind: Kind;
    options: ReflectorOptions;
    say: (state: ReflectorState<KubeObject>) => Promise<void>;
    fail: (error: Error) => Promise<void>;
  }[] = [];
  const reflect = async function* (_client: KubeClient, kind: Kind, options: ReflectorOptions) {
    let next = Promise.withResolvers<ReflectorState<KubeObject>>();
    options.signal.addEventListener('abort', () => next.reject(options.signal.reason));
    const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
    opened.push({
      kind,
      options,
      say: (state) => {
        next.resolve(state);
        return settle();
      },
      fail: (error) => {
        next.reject(error);
        return settle();
      },
    });
    for (;;) {
      const state = await next.promise;
      next = Promise.withResolvers();
      yield state;
    }
  } as unknown as ReflectKind;
  return { opened, reflect };
}

function open(
  options: Partial<CacheOptions> = {},
): { cache: Cache; clock: ReturnType<typeof createSimulatedClock>; stop: AbortController } & Pick<
  ReturnType<typeof scripted>,
  'opened'
> {
  const clock = createSimulatedClock();
  const { opened, reflect } = scripted();
  const cache = createCache({ client: {} as KubeClient, reflect, clock, logger: silentLogger, ...options });
  return { cache, clock, opened, stop: new AbortController() };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function configMap(name: string, resourceVersion: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop', uid: name, resourceVersion } };
}

describe('a cache', () => {
  it('starts everything at once, shares equal requests and ends a store with its last user', async () => {
    const { cache, opened, stop } = open();
    const a = cache.open({ kind: ConfigMap, manager: 'a' });
    const b = cache.open({ kind: ConfigMap, manager: 'b' });
    const labelled = cache.open({ kind: ConfigMap, scope: { labelSelector: 'app=x' } });
    cache.open({ kind: ConfigMap, hold: 'metadata' });
    expect(opened).toHaveLength(0);
    cache.start(stop.signal);
    await turn();
    expect(opened.map(({ options }) => [options.labelSelector, options.metadataOnly])).toEqual([
      [undefined, false],
      ['app=x', false],
      [undefined, true],
    ]);

    await opened[0]?.say({ state: 'replaced', items: [configMap('one', '1')], resourceVersion: '1' });
    expect(a.store.size).toBe(1);
    expect(b.store.size).toBe(1);
    expect(labelled.store.synced).toBe(false);

    a.close();
    a.close();
    expect(opened[0]?.options.signal.aborted).toBe(false);
    b.close();
    expect(opened[0]?.options.signal.aborted).toBe(true);
    expect(cache.reports()).toHaveLength(2);
  });

  it('follows each namespace apart when it is held to some, but not what has no namespace', async () => {
    const { cache, opened, stop } = open({ namespaces: ['shop', 'blog'] });
    const { store } = cache.open({ kind: ConfigMap });
    cache.open({ kind: Namespace });
    cache.open({ kind: ConfigMap, scope: { namespace: 'kube-system' } });
    cache.start(stop.signal);
    await turn();
    expect(opened.map(({ options }) => options.namespace)).toEqual(['shop', 'blog', undefined, 'kube-system']);
    await opened[0]?.say({ state: 'replaced', items: [], resourceVersion: '1' });
    expect(store.synced).toBe(false);
    await opened[1]?.say({ state: 'replaced', items: [], resourceVersion: '1' });
    expect(store.synced).toBe(true);
  });

  it('gives a field manager that comes later a store of its own, because its fields were not kept', async () => {
    const { cache, opened, stop } = open();
    cache.open({ kind: ConfigMap, manager: 'a' });
    cache.start(stop.signal);
    cache.open({ kind: ConfigMap });
    cache.open({ kind: ConfigMap, manager: 'late' });
    await turn();
    expect(opened).toHaveLength(2);
  });

  it('says in words that a kind is not installed, and goes on when it is', async () => {
    const { cache, opened, stop } = open();
    const { report, store } = cache.open({ kind: ConfigMap });
    cache.start(stop.signal);
    await turn();
    const fault = new Fault('KindNotServed', 'the server does not serve configmaps');
    await opened[0]?.say({ state: 'interrupted', fault, attempt: 1, retryInMs: 100 });
    expect(report().feeds[0]).toMatchObject({
      state: 'not-served',
      stale: false,
      problem: {
        code: 'KindNotServed',
        remedy: expect.stringContaining('install the CustomResourceDefinition configmaps'),
      },
    });
    await opened[0]?.say({ state: 'replaced', items: [], resourceVersion: '1' });
    expect(report().feeds[0]).toEqual({ state: 'following', stale: false, restarts: 0, lastContactMs: 0 });
    expect(store.synced).toBe(true);
  });

  it('is stale when it is not connected, or hears nothing, for too long', async () => {
    const { cache, clock, opened, stop } = open({ silentMs: 1_000, disconnectedMs: 100 });
    const { report } = cache.open({ kind: ConfigMap });
    cache.start(stop.signal);
    await turn();
    await opened[0]?.say({ state: 'replaced', items: [], resourceVersion: '1' });
    await clock.advance(1_001);
    expect(report().feeds[0]).toMatchObject({ stale: true, lastContactMs: 1_001 });
    await opened[0]?.say({ state: 'progressed', resourceVersion: '2' });
    expect(report().feeds[0]).toMatchObject({ stale: false, lastContactMs: 0 });

    const fault = new Fault('StreamBroken', 'the stream broke');
    await opened[0]?.say({ state: 'interrupted', fault, attempt: 1, retryInMs: 10 });
    expect(report().feeds[0]).toMatchObject({ stale: false, restarts: 1, state: 'interrupted' });
    await clock.advance(101);
    await opened[0]?.say({ state: 'interrupted', fault, attempt: 2, retryInMs: 10 });
    expect(report().feeds[0]).toMatchObject({ stale: true, restarts: 1 });
    await opened[0]?.say({ state: 'watching', resourceVersion: '2' });
    expect(report().feeds[0]).toMatchObject({ stale: false, state: 'following' });
  });

  it('starts a reflector again that stopped because of a bug', async () => {
    const { cache, clock, opened, stop } = open();
    const { report } = cache.open({ kind: ConfigMap });
    cache.start(stop.signal);
    await turn();
    await opened[0]?.fail(new TypeError('oops'));
    expect(report().feeds[0]).toMatchObject({
      state: 'interrupted',
      problem: { message: expect.stringContaining('oops') },
    });
    await clock.advance(5_000);
    expect(opened).toHaveLength(2);
    stop.abort();
    await clock.advance(60_000);
    expect(opened).toHaveLength(2);
  });

  it('measures how long the watch takes to show what we wrote', async () => {
    const { cache, clock, opened, stop } = open();
    const { report, store } = cache.open({ kind: ConfigMap, manager: 'us' });
    cache.start(stop.signal);
    await turn();
    await opened[0]?.say({ state: 'replaced', items: [], resourceVersion: '1' });
    store.absorb(configMap('a', '2'));
    await clock.advance(30);
    await opened[0]?.say({ state: 'changed', type: 'ADDED', object: configMap('a', '2'), resourceVersion: '2' });
    expect(report()).toMatchObject({ echoMs: 30, objects: 1, hold: 'full' });
  });
});
