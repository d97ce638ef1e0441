/** What Tetragon installs, given to a real API server with the CRDs that Tetragon publishes. */
import { renderInstance } from '@keelson/runtime';
import type { KubeObject } from '@keelson/schema';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecurityOperator } from '../../operator.ts';
import { agentOf } from '../../testing/agent.ts';
import { type DryRunServer, startDryRunServer } from '../../testing/dry-run.ts';
import { upstreamCrds } from '../../testing/stage.ts';
import { tetragon } from './feature.ts';

let server: DryRunServer;

beforeAll(async () => {
  server = await startDryRunServer(await upstreamCrds('tetragon'));
}, 300_000);

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

function objectsOf(config: object = {}): readonly KubeObject[] {
  return renderInstance(createSecurityOperator([tetragon]), agentOf([{ name: 'tetragon', config }])).objects;
}

test('the server takes everything, and keeps every field of every policy', async () => {
  const objects = objectsOf();
  expect(objects.filter(({ kind }) => kind === 'TracingPolicy')).toHaveLength(4);

  for (const object of objects) {
    const stored = await server.dryRun(object);
    if (object.kind === 'TracingPolicy') expect(stored.spec, object.metadata.name).toMatchObject(object.spec as object);
  }
});

test('the server refuses a policy of the user that is none, by its path', async () => {
  const own = { broken: { kprobes: [{ call: 'sys_mount', args: [{ index: 0, type: 'sentence' }] }] } };
  const broken = objectsOf({ policies: { builtIn: [], own } }).find(({ kind }) => kind === 'TracingPolicy');

  await expect(server.dryRun(broken as KubeObject)).rejects.toThrow(/spec\.kprobes\[0\]\.args\[0\]\.type/);
});
