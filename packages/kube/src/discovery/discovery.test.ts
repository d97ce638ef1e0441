import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeClient } from '../client.ts';
import { loadConfig } from '../config/load-config.ts';
import { createClient } from '../create-client.ts';
import { groupVersionsOf, kindsOfResourceList } from './legacy.ts';

let env: TestEnv;
let client: KubeClient;
const requests: string[] = [];

beforeAll(async () => {
  env = await startTestEnv();
  const onRequest = ({ code }: { code: string }) => requests.push(code);
  client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }), { observer: { onRequest } });
});

afterAll(async () => {
  await client?.close();
  await env?.stop();
});

const crd = (plural: string, kind: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.dev` },
  spec: {
    group: 'example.dev',
    scope: 'Namespaced',
    names: { plural, kind, singular: kind.toLowerCase(), shortNames: [plural.slice(0, 2)], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

describe('discovery on a real server', () => {
  it('given a built-in kind, it is resolved by two requests in all; a second question costs nothing', async () => {
    expect(await client.resolve({ apiVersion: 'apps/v1', kind: 'Deployment' })).toMatchObject({
      group: 'apps',
      version: 'v1',
      plural: 'deployments',
      scope: 'Namespaced',
    });
    expect(await client.resolve({ apiVersion: 'v1', kind: 'Namespace' })).toMatchObject({
      group: '',
      scope: 'Cluster',
    });
    expect(requests).toEqual(['200', '200']);
  });

  it('given what is not served, undefined, and no storm of requests', async () => {
    requests.length = 0;
    const unknown = { apiVersion: 'example.dev/v1', kind: 'Website' };
    expect(await Promise.all(Array.from({ length: 20 }, () => client.resolve(unknown)))).toEqual(
      Array(20).fill(undefined),
    );
    expect(requests.length).toBeLessThanOrEqual(2);
    expect(await client.resolve({ apiVersion: 'apps/v1', kind: 'Website' })).toBeUndefined();
  });

  it('given a CRD that appears, it is found within seconds, with all that people call it', async () => {
    await env.applyCrds([crd('websites', 'Website')]);
    await expect
      .poll(() => client.resolve({ apiVersion: 'example.dev/v1', kind: 'Website' }), { timeout: 5_000 })
      .toBeDefined();
    const kind = (await client.kinds()).find((each) => each.kind === 'Website');
    expect(kind).toMatchObject({
      plural: 'websites',
      singular: 'website',
      shortNames: ['we'],
      categories: ['all'],
      subresources: ['status'],
      verbs: expect.arrayContaining(['list', 'watch']),
    });
  });

  it('given nothing new, the server answers a later question with 304', async () => {
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    requests.length = 0;
    const kinds = await client.kinds();
    expect(requests).toEqual(['304', '304']);
    expect(kinds.some((each) => each.kind === 'Website')).toBe(true);
  });

  it('given the legacy documents of the same server, they tell the same', async () => {
    const read = async (path: string) => JSON.parse((await client.raw(path)).body);
    const versions = groupVersionsOf(await read('/api'), await read('/apis'));
    const legacy = (
      await Promise.all(
        versions.map(async ({ groupVersion, path }) => kindsOfResourceList(groupVersion, await read(path))),
      )
    ).flat();
    const sorted = (kinds: readonly object[]) => kinds.map((kind) => JSON.stringify(sortKeys(kind))).sort();
    expect(sorted(legacy)).toEqual(sorted(await client.kinds()));
  });
});

/** Lists of names in a fixed order, because the two forms order them differently. */
function sortKeys(kind: object): object {
  return Object.fromEntries(
    Object.entries(kind)
      .map(([key, value]) => [key, Array.isArray(value) ? [...value].sort() : value] as const)
      .sort(([a], [b]) => a.localeCompare(b)),
  );
}
