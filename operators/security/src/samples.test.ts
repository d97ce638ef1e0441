/** Every sample renders without a complaint, and a real API server with the real CRDs of the tools takes every object of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { renderInstance } from '@keelson/runtime';
import { type KubeObject, manifest, Namespace } from '@keelson/schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { security } from './operator.ts';
import { type DryRunServer, startDryRunServer } from './testing/dry-run.ts';
import { sample, upstreamCrds } from './testing/stage.ts';
import { VERSION } from './version.ts';

const names = readdirSync(new URL('../../../samples/security/', import.meta.url))
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => file.replace(/\.yaml$/, ''));

describe('samples', () => {
  let server: DryRunServer;
  beforeAll(async () => {
    server = await startDryRunServer(await upstreamCrds('tetragon', 'trivy-operator', 'kyverno'));
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  test('there are those that people ask for', () => {
    expect(names.sort()).toEqual(['air-gapped', 'full', 'gpu-nodes', 'minimal', 'opensearch', 'two-agents']);
  });

  test.each(names)('%s', async (name) => {
    const objects = sample(name);
    const agents = objects.filter(({ kind }) => kind === 'SecurityAgent');
    expect(agents.length).toBeGreaterThan(0);
    for (const agent of agents) {
      const rendering = renderInstance(security, agent);
      expect(rendering.problems).toEqual([]);
      expect(rendering.objects.length).toBeGreaterThan(10);
      const namespace = agent.metadata.namespace ?? '';
      if (namespace !== 'security-system') await server.create(manifest(Namespace, { name: namespace }, {}));
      await Promise.all(rendering.objects.map((object) => server.dryRun(withoutOwner(object))));
    }
  });
});

/** The agent itself is not there. */
function withoutOwner(object: KubeObject): KubeObject {
  const { ownerReferences: _owners, ...metadata } = object.metadata;
  return { ...object, metadata };
}

test('the version that is told is that of the package', () => {
  const file = new URL('../package.json', import.meta.url);
  expect(VERSION).toBe((parse(readFileSync(file, 'utf8')) as { version: string }).version);
});
