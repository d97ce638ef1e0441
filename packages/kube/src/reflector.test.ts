import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigMap, defineKind, type KubeObject } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { KubeClient } from './client.ts';
import { loadConfig } from './config/load-config.ts';
import { createClient } from './create-client.ts';
import { type Mirror, mirror } from './testing/mirror.ts';

let env: TestEnv;
let client: KubeClient;
let namespace: string;
let cleanUp: (() => Promise<unknown>)[];

beforeAll(async () => {
  env = await startTestEnv();
});

afterAll(() => env?.stop());

beforeEach(async () => {
  cleanUp = [];
  client = await clientFor(env.kubeconfig);
  namespace = await env.createNamespace();
});

afterEach(async () => {
  for (const each of cleanUp.reverse()) await each();
});

async function clientFor(kubeconfig: string): Promise<KubeClient> {
  const created = createClient(await loadConfig({ kubeconfig, env: {} }));
  cleanUp.push(() => created.close());
  return created;
}

function follow(...[by, kind, options, pause]: Parameters<typeof mirror>): Mirror<KubeObject> {
  const followed = mirror(by, kind, options, pause);
  cleanUp.push(() => followed.stop());
  return followed;
}

function write(name: string, value: string): Promise<KubeObject> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { value } };
  return client.apply(ConfigMap, object, { fieldManager: 'test', force: true });
}

const names = (followed: Mirror<KubeObject>) => [...followed.objects.keys()].sort();
const soon = { timeout: 15_000, interval: 20 };

describe('following a kind', () => {
  it.each([
    ['a streaming list', true],
    ['a paged list', false],
  ])(
    'given %s, there is a picture first, then every change, metadata or transformed if asked',
    async (_, streamingList) => {
      for (const name of ['a', 'b', 'c']) await write(name, '1');
      const transform = (object: KubeObject) => ({ ...object, metadata: { ...object.metadata, managedFields: [] } });
      const followed = follow(client, ConfigMap, { namespace, streamingList, pageSize: 2, transform });
      await expect.poll(() => followed.count('watching'), soon).toBe(1);
      expect(followed.states[0]).toMatchObject({ state: 'replaced', items: [{ kind: 'ConfigMap' }, {}, {}] });
      await write('d', '1');
      await write('a', '2');
      await client.delete(ConfigMap, { name: 'b', namespace });
      await expect.poll(() => names(followed), soon).toEqual(['a', 'c', 'd']);
      const changes = followed.states.flatMap((state) =>
        state.state === 'changed'
          ? [[state.type, state.object.metadata.name, state.resourceVersion === state.object.metadata.resourceVersion]]
          : [],
      );
      expect(changes).toEqual([
        ['ADDED', 'd', true],
        ['MODIFIED', 'a', true],
        ['DELETED', 'b', true],
      ]);
      expect(followed.objects.get('a')?.metadata.managedFields).toEqual([]);
      expect(followed.count('replaced')).toBe(1);
    },
  );

  it('given selectors, only what they select', async () => {
    await write('a', '1');
    await write('b', '1');
    const followed = follow(client, ConfigMap, { namespace, fieldSelector: 'metadata.name=b', metadataOnly: true });
    await expect.poll(() => followed.count('watching'), soon).toBe(1);
    await write('a', '2');
    await write('b', '2');
    await expect.poll(() => followed.count('changed'), soon).toBe(1);
    expect(names(followed)).toEqual(['b']);
    expect(followed.objects.get('b')?.data).toBeUndefined();
  });

  it('given a consumer that is slow, it gets every event in order', async () => {
    const followed = follow(client, ConfigMap, { namespace }, () => sleep(30));
    await expect.poll(() => followed.count('watching'), soon).toBe(1);
    for (let i = 0; i < 60; i += 1) await write('a', String(i));
    const values = () =>
      followed.states.flatMap((state) =>
        state.state === 'changed' ? [(state.object.data as { value: string }).value] : [],
      );
    await expect.poll(() => values().length, soon).toBe(60);
    expect(values()).toEqual(Array.from({ length: 60 }, (_, i) => String(i)));
  });

  it('given an aborted signal or a consumer that leaves, it ends at once and its connection too', async () => {
    const followed = mirror(client, ConfigMap, { namespace });
    await expect.poll(() => followed.count('watching'), soon).toBe(1);
    const startedAt = performance.now();
    await followed.stop();
    expect(performance.now() - startedAt).toBeLessThan(500);
    const { reflect } = await import('./reflector.ts');
    for await (const { state } of reflect(client, ConfigMap, { namespace, signal: new AbortController().signal })) {
      if (state === 'watching') break;
    }
    await client.close();
  });
});

describe('a kind that is not there, or not ours to see', () => {
  it('given no CRD, it says so and waits; it is there within 5 s of the CRD; it survives the CRD being deleted and created anew', async () => {
    const group = 'late.example.dev';
    const website = defineKind({ group, version: 'v1', kind: 'Website', plural: 'websites', scope: 'Namespaced' });
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } };
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `websites.${group}` },
      spec: { group, scope: 'Namespaced', names: { plural: 'websites', kind: 'Website' }, versions: [version] },
    };
    const create = (name: string) =>
      client.create(website, { apiVersion: `${group}/v1`, kind: 'Website', metadata: { name, namespace } });
    const followed = follow(client, website, { namespace });
    // Long enough for its patience to have reached its end.
    await expect.poll(() => followed.faults().length, { timeout: 20_000 }).toBe(7);
    expect(new Set(followed.faults())).toEqual(new Set(['KindNotServed']));
    await env.applyCrds([crd]);
    const startedAt = performance.now();
    await create('first');
    await expect.poll(() => names(followed), soon).toEqual(['first']);
    expect(performance.now() - startedAt).toBeLessThan(5_000);

    await env.adminRequest('DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.${group}`);
    await expect.poll(() => followed.states.at(-1)?.state, soon).toBe('interrupted');
    await expect
      .poll(
        async () =>
          (await client.raw(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.${group}`)).status,
        soon,
      )
      .toBe(404);
    await env.applyCrds([crd]);
    await create('second');
    await expect.poll(() => names(followed), soon).toEqual(['second']);
  });

  it('given no permission, it says which one, and goes on once it is granted', async () => {
    const stranger = await clientFor(await env.kubeconfigFor({ serviceAccount: { namespace, name: 'stranger' } }));
    const followed = follow(stranger, ConfigMap, { namespace });
    await expect.poll(() => followed.faults().length, soon).toBeGreaterThan(1);
    expect(followed.states.at(-1)).toMatchObject({
      state: 'interrupted',
      fault: { code: 'Forbidden', message: expect.stringContaining('verbs ["watch"]') },
    });
    await env.kubectl(['create', 'role', 'r', '-n', namespace, '--verb=list,watch', '--resource=configmaps']);
    await env.kubectl([
      'create',
      'rolebinding',
      'r',
      '-n',
      namespace,
      '--role=r',
      `--serviceaccount=${namespace}:stranger`,
    ]);
    await write('a', '1');
    await expect.poll(() => names(followed), { timeout: 30_000 }).toEqual(['a']);
  });
});

describe('a control plane that dies', () => {
  it('given an API server that is killed and restarted, it resumes without a new picture and misses nothing', async () => {
    await write('a', '1');
    const followed = follow(client, ConfigMap, { namespace });
    await expect.poll(() => followed.count('watching'), soon).toBe(1);
    await env.parts.apiserver.kill();
    await expect.poll(() => followed.faults().length, soon).toBeGreaterThan(1);
    expect(followed.faults()[0]).toBe('StreamBroken');
    expect(followed.faults()[1]).toBe('Unreachable');
    await env.parts.apiserver.start();
    await write('b', '1');
    await write('a', '2');
    await expect.poll(() => followed.objects.get('a')?.data, { timeout: 30_000 }).toEqual({ value: '2' });
    expect(names(followed)).toEqual(['a', 'b']);
    expect(followed.count('replaced')).toBe(1);
  });

  it('given an etcd that is killed and restarted, it misses nothing', async () => {
    const followed = follow(client, ConfigMap, { namespace });
    await expect.poll(() => followed.count('watching'), soon).toBe(1);
    await env.parts.etcd.kill();
    await sleep(500);
    await env.parts.etcd.start();
    await expect
      .poll(
        () =>
          write('a', '1').then(
            () => 'written',
            () => 'failed',
          ),
        { timeout: 30_000 },
      )
      .toBe('written');
    await expect.poll(() => names(followed), { timeout: 30_000 }).toEqual(['a']);
  });

  it('given an etcd that is restored from an older backup, versions go backwards: it takes a new picture and is not deaf', async () => {
    const { etcd, apiserver } = env.parts;
    const [data, backup] = [join(env.dir, 'etcd'), join(env.dir, 'etcd-backup')];
    await write('before', '1');
    await etcd.stop();
    await cp(data, backup, { recursive: true });
    await etcd.start();
    await expect
      .poll(
        () =>
          write('after', '1').then(
            () => 'written',
            () => 'failed',
          ),
        { timeout: 30_000 },
      )
      .toBe('written');
    for (let i = 0; i < 50; i += 1) await write('after', String(i));
    const followed = follow(client, ConfigMap, { namespace });
    await expect.poll(() => followed.objects.get('after')?.data, soon).toEqual({ value: '49' });
    const seen = Number(followed.objects.get('after')?.metadata.resourceVersion);

    await apiserver.kill();
    await etcd.stop();
    await rm(data, { recursive: true });
    await cp(backup, data, { recursive: true });
    await etcd.start();
    await apiserver.start();
    await expect.poll(() => names(followed), { timeout: 30_000 }).toEqual(['before']);
    expect(followed.count('replaced')).toBe(2);
    const written = await write('new', '1');
    expect(Number(written.metadata.resourceVersion)).toBeLessThan(seen);
    await expect.poll(() => names(followed), soon).toEqual(['before', 'new']);
  });
});
