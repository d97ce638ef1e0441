/** What Tetragon installs, given to a real API server with the CRDs that Tetragon publishes. */
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { renderInstance } from '@keelson/runtime';
import { type KubeObject, manifest, Namespace } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecurityOperator } from '../../operator.ts';
import { agentOf } from '../../testing/agent.ts';
import { upstreamCrds } from '../../testing/stage.ts';
import { tetragon } from './feature.ts';

let env: TestEnv;
let client: KubeClient;

beforeAll(async () => {
  env = await startTestEnv({ crds: await upstreamCrds('tetragon') });
  client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
  await client.create(Namespace, manifest(Namespace, { name: 'security-system' }, {}));
}, 300_000);

afterAll(async () => {
  await client?.close();
  await env?.stop();
});

/** As the server would store it; fields that it does not know are an error. */
async function dryRun(object: KubeObject): Promise<KubeObject> {
  const kind = await client.resolve(object);
  if (kind === undefined) throw new Error(`the server does not know ${object.kind}`);
  // Nobody owns them here: an owner that does not exist is not what this is about.
  const { ownerReferences: _, ...metadata } = object.metadata;
  return await client.apply(kind, { ...object, metadata }, { fieldManager: 'test', force: true, dryRun: true });
}

function objectsOf(config: object = {}): readonly KubeObject[] {
  return renderInstance(createSecurityOperator([tetragon]), agentOf([{ name: 'tetragon', config }])).objects;
}

test('the server takes everything, and keeps every field of every policy', async () => {
  const objects = objectsOf();
  const policies = objects.filter(({ kind }) => kind === 'TracingPolicy');
  expect(policies).toHaveLength(4);

  for (const object of objects) {
    const stored = await dryRun(object);
    if (object.kind === 'TracingPolicy') expect(stored.spec, object.metadata.name).toMatchObject(object.spec as object);
  }
});

test('the server refuses a policy of the user that is none, by its path', async () => {
  const own = { broken: { kprobes: [{ call: 'sys_mount', args: [{ index: 0, type: 'sentence' }] }] } };
  const broken = objectsOf({ policies: { builtIn: [], own } }).find(({ kind }) => kind === 'TracingPolicy');

  await expect(dryRun(broken as KubeObject)).rejects.toThrow(/spec\.kprobes\[0\]\.args\[0\]\.type/);
});
