import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigMap, type KubeObject, manifest } from '@keelson/schema';
import { type FaultProxy, startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { KubeClient } from './client.ts';
import { systemClock } from './clock.ts';
import { loadConfig } from './config/load-config.ts';
import { createClient } from './create-client.ts';
import type { ReflectorOptions } from './reflector.ts';
import { type Mirror, mirror } from './testing/mirror.ts';

let env: TestEnv;
let proxy: FaultProxy;
let direct: KubeClient;
let client: KubeClient;
let namespace: string;
let cleanUp: (() => Promise<unknown>)[];
const requests: string[] = [];

beforeAll(async () => {
  env = await startTestEnv();
  proxy = await env.faultProxy();
  proxy.onRequest(({ path }) => {
    requests.push(path);
  });
  direct = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
  client = createClient(await loadConfig({ kubeconfig: proxy.kubeconfig, env: {} }));
});

afterAll(async () => {
  await direct?.close();
  await client?.close();
  await proxy?.close();
  await env?.stop();
});

beforeEach(async () => {
  cleanUp = [];
  namespace = await env.createNamespace();
});

afterEach(async () => {
  for (const each of cleanUp.reverse()) await each();
  proxy.clearRules();
  requests.length = 0;
});

function follow(options: Partial<ReflectorOptions> = {}): Mirror<KubeObject> {
  const followed = mirror(client, ConfigMap, { namespace, ...options });
  cleanUp.push(() => followed.stop());
  return followed;
}

function write(name: string, value: string): Promise<KubeObject> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { value } };
  return direct.apply(ConfigMap, object, { fieldManager: 'test', force: true });
}

const watch = { watch: true } as const;
const list = { method: 'GET', watch: false, path: /\/configmaps(\?|$)/ } as const;
const soon = { timeout: 20_000, interval: 20 };
const values = (followed: Mirror<KubeObject>) =>
  followed.states.flatMap((state) =>
    state.state === 'changed' ? [(state.object.data as { value: string }).value] : [],
  );

describe('streams that break', () => {
  it.each([
    ['in the middle of an event', { kind: 'cut', afterEvents: 2, halfEvent: true } as const],
    ['between events', { kind: 'cut', afterEvents: 2 } as const],
    ['with a proper end', { kind: 'cut', afterEvents: 2, how: 'clean' } as const],
  ])(
    'given streams that end %s, it resumes where it was: every event once, in order, one picture',
    async (_, fault) => {
      const followed = follow();
      await expect.poll(() => followed.count('watching'), soon).toBe(1);
      const rule = proxy.rule({ match: { ...watch, path: /resourceVersion=\d/ }, fault });
      proxy.cutAll(watch);
      for (let i = 0; i < 20; i += 1) await write('a', String(i));
      await expect.poll(() => values(followed).length, soon).toBe(20);
      expect(values(followed)).toEqual(Array.from({ length: 20 }, (_, i) => String(i)));
      expect(rule.hits).toBeGreaterThan(5);
      expect(followed.count('replaced')).toBe(1);
      expect(new Set(followed.faults())).toEqual(new Set(['StreamBroken']));
      // Each of them brought events, so none of them made the next wait longer.
      for (const state of followed.states)
        if (state.state === 'interrupted') expect(state.retryInMs).toBeLessThanOrEqual(100);
    },
  );

  it('given streams that are cut before they bring anything, also a first picture gets through', async () => {
    for (let i = 0; i < 5; i += 1) await write(`c${i}`, '1');
    proxy.rule({ match: watch, fault: { kind: 'cut', afterEvents: 1 } });
    const followed = follow();
    await expect.poll(() => followed.objects.size, soon).toBe(5);
  });

  it('given a server that ends every stream at once, it is not called in a tight loop', async () => {
    proxy.rule({ match: watch, fault: { kind: 'cut', afterMs: 0, how: 'clean' } });
    const followed = follow();
    await sleep(3_000);
    expect(followed.faults().length).toBeGreaterThan(2);
    expect(requests.length).toBeLessThan(25);
  });

  it('given something in between that lets no stream through, it is slow but not deaf', async () => {
    const followed = follow({ backoff: { initialMs: 50, maxMs: 300 } });
    await expect.poll(() => followed.count('watching'), soon).toBe(1);
    proxy.rule({ match: watch, fault: { kind: 'reset', at: 'response' } });
    proxy.cutAll(watch);
    for (let i = 0; i < 5; i += 1) {
      await write('a', String(i));
      await expect.poll(() => followed.objects.get('a')?.data, soon).toEqual({ value: String(i) });
    }
    expect(values(followed)).toEqual([]);
  });

  it('given a stream that falls silent, it is dead after the idle time', async () => {
    const followed = follow({ idleTimeoutMs: 700 });
    await expect.poll(() => followed.count('watching'), soon).toBe(1);
    const rule = proxy.rule({ match: watch, times: 1, fault: { kind: 'stall' } });
    proxy.cutAll(watch);
    await rule.hit();
    await write('a', '1');
    await expect.poll(() => values(followed), soon).toEqual(['1']);
    expect(followed.faults()).toContain('StreamStalled');
    expect(followed.count('replaced')).toBe(1);
  });

  it('given events that arrive twice, the consumer holds the truth', async () => {
    proxy.rule({ match: watch, fault: { kind: 'duplicate' } });
    const followed = follow();
    await expect.poll(() => followed.count('watching'), soon).toBe(1);
    await write('a', '1');
    await write('b', '1');
    await direct.delete(ConfigMap, { name: 'a', namespace });
    await expect.poll(() => [...followed.objects.keys()], soon).toEqual(['b']);
  });

  it('given streams that end when their time is over, that is no interruption and costs no list', async () => {
    const followed = follow({ clock: { ...systemClock, monotonic: () => performance.now() * 2_000 } });
    await expect.poll(() => followed.count('watching'), soon).toBe(1);
    requests.length = 0;
    proxy.rule({ match: watch, fault: { kind: 'cut', afterMs: 400, how: 'clean' } });
    proxy.cutAll(watch);
    await expect.poll(() => followed.count('watching'), soon).toBe(5);
    expect(followed.faults()).toEqual(['StreamBroken']);
    // One look at the server's version after the cut, none after the ends.
    expect(requests.filter((path) => !path.includes('watch=true'))).toHaveLength(1);
  });
});

describe('versions that are too old', () => {
  it('given a 410 in the stream, or as the answer to a watch, it takes a new picture', async () => {
    const followed = follow();
    await expect.poll(() => followed.count('watching'), soon).toBe(1);
    proxy.rule({ match: { ...watch, path: /resourceVersion=\d/ }, times: 1, fault: { kind: 'gone' } });
    proxy.cutAll(watch);
    await write('a', '1');
    await expect.poll(() => followed.count('replaced'), soon).toBe(2);
    proxy.rule({
      match: { ...watch, path: /resourceVersion=\d/ },
      times: 1,
      fault: { kind: 'answer', code: 410, reason: 'Expired' },
    });
    proxy.cutAll(watch);
    await expect.poll(() => followed.count('replaced'), soon).toBe(3);
    await write('b', '1');
    await expect.poll(() => [...followed.objects.keys()].sort(), soon).toEqual(['a', 'b']);
    expect(followed.faults().filter((code) => code === 'Expired')).toHaveLength(2);
  });

  it('given a 410 between two pages, the list begins anew, in one piece; listAll does so too', async () => {
    for (let i = 0; i < 5; i += 1) await write(`c${i}`, '1');
    const rule = proxy.rule({ match: { path: /continue=/ }, fault: { kind: 'answer', code: 410, reason: 'Expired' } });
    const followed = follow({ streamingList: false, pageSize: 2 });
    await expect.poll(() => followed.objects.size, soon).toBe(5);
    expect(followed.faults()).toEqual([]);
    expect((await client.listAll(ConfigMap, { namespace, limit: 2 })).items).toHaveLength(5);
    expect(rule.hits).toBe(2);
  });
});

describe('servers that lack or refuse things', () => {
  it('given a server without streaming lists, it falls back to pages and does not ask again', async () => {
    await write('a', '1');
    const rule = proxy.rule({
      match: { path: /sendInitialEvents/ },
      fault: { kind: 'answer', code: 422, reason: 'Invalid', message: 'sendInitialEvents is forbidden for watch' },
    });
    const followed = follow();
    await expect.poll(() => followed.objects.size, soon).toBe(1);
    proxy.rule({ match: watch, times: 1, fault: { kind: 'gone' } });
    proxy.cutAll(watch);
    await expect.poll(() => followed.count('replaced'), soon).toBe(2);
    expect(rule.hits).toBe(1);
  });

  it('given a server that never marks the end of the initial events, it falls back to pages', async () => {
    await write('a', '1');
    proxy.rule({
      match: { path: /sendInitialEvents/ },
      fault: { kind: 'drop', events: ({ type }) => type === 'BOOKMARK' },
    });
    const followed = follow({ idleTimeoutMs: 500 });
    await expect.poll(() => followed.objects.size, soon).toBe(1);
    expect(followed.faults()).toEqual(['StreamStalled']);
  });

  it('given 429 with Retry-After, it waits at least that long; given 500s, it goes on', async () => {
    await write('a', '1');
    // The client itself repeats a read three times, so the fifth 500 reaches the reflector.
    proxy.rule({ match: list, times: 5, fault: { kind: 'answer', code: 500 } });
    proxy.rule({ match: watch, times: 1, fault: { kind: 'answer', code: 429, retryAfterSeconds: 1 } });
    const followed = follow({ streamingList: false });
    await expect.poll(() => followed.count('watching'), soon).toBe(1);
    expect(followed.objects.size).toBe(1);
    const interruptions = followed.states.filter((state) => state.state === 'interrupted');
    expect(interruptions.map(({ fault }) => fault.code)).toEqual(['InternalError', 'TooManyRequests']);
    expect(interruptions[1]?.retryInMs).toBeGreaterThanOrEqual(1_000);
  });

  it('given a transform that throws, that is a state like any other, and the event comes again', async () => {
    let broken = true;
    const transform = (object: KubeObject) => {
      if (broken && object.metadata.name === 'a') throw new Error('a bug in the transform');
      return object;
    };
    const followed = follow({ transform });
    await expect.poll(() => followed.count('watching'), soon).toBe(1);
    await write('a', '1');
    await expect.poll(() => followed.faults(), soon).toContain('UnexpectedAnswer');
    expect(followed.states.find(({ state }) => state === 'interrupted')).toMatchObject({
      fault: { message: expect.stringContaining('a bug in the transform') },
    });
    broken = false;
    await expect.poll(() => values(followed), soon).toEqual(['1']);
    expect(followed.count('replaced')).toBe(1);
  });
});

describe('calls through a broken line', () => {
  const object = (name: string) => manifest(ConfigMap, { name, namespace }, {});

  it('given 429 or 503 with Retry-After, a create succeeds in the end', async () => {
    for (const fault of [
      { kind: 'answer', code: 429, retryAfterSeconds: 1 } as const,
      { kind: 'answer', code: 503, retryAfterSeconds: 1 } as const,
    ]) {
      const rule = proxy.rule({ match: { method: 'POST' }, times: 1, fault });
      await client.create(ConfigMap, object(`a${fault.code}`));
      expect(rule.hits).toBe(1);
    }
  });

  it('given a reset after the server did it, a create says that it may be done, and an apply is simply done', async () => {
    proxy.rule({ match: { write: true }, times: 1, fault: { kind: 'reset', at: 'response' } });
    await expect(client.create(ConfigMap, object('b'))).rejects.toMatchObject({
      code: 'Unreachable',
      details: { maybeDone: true },
    });
    expect(await direct.find(ConfigMap, { name: 'b', namespace })).toBeDefined();
    const rule = proxy.rule({ match: { write: true }, times: 1, fault: { kind: 'reset', at: 'response' } });
    await client.apply(ConfigMap, object('c'), { fieldManager: 'test' });
    expect(rule.hits).toBe(1);
  });

  it('given 500 on a write, it is not repeated; on a read, it is', async () => {
    const onWrite = proxy.rule({ match: { write: true }, fault: { kind: 'answer', code: 500 } });
    await expect(client.create(ConfigMap, object('d'))).rejects.toMatchObject({ code: 'InternalError' });
    expect(onWrite.hits).toBe(1);
    const onRead = proxy.rule({ match: list, times: 2, fault: { kind: 'answer', code: 500 } });
    await client.list(ConfigMap, { namespace });
    expect(onRead.hits).toBe(2);
  });
});
