/** What is watched beside the instances, in a whole process against a real API server: what is held of it and whom it wakes. */
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { ConfigMap, defineResource, manifest, Type, toCrd } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { apply } from '../decision.ts';
import { silentLogger } from '../logging/logger.ts';
import { createManager } from '../manager/manager.ts';
import type { ManagerOptions } from '../manager/options.ts';
import { defineOperator, type Watch } from '../operator.ts';

const Guard = defineResource({
  group: 'watches.keelson.io',
  version: 'v1',
  kind: 'Guard',
  scope: 'Namespaced',
  description: 'Of the tests.',
  spec: Type.Object({ text: Type.Optional(Type.String()) }),
  status: Type.Object({ text: Type.Optional(Type.String()) }),
});

let env: TestEnv;
let client: KubeClient;
let running: { stop: AbortController; done: Promise<void> } | undefined;

beforeAll(async () => {
  env = await startTestEnv({ crds: [toCrd(Guard)] });
  client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
});
afterEach(async () => {
  running?.stop.abort();
  await running?.done;
  running = undefined;
});
afterAll(async () => {
  await client?.close();
  await env?.stop();
});

function start(operator: ManagerOptions['operators'][number], namespace: string): void {
  const manager = createManager({
    client,
    operators: [operator],
    leaderElection: false,
    logger: silentLogger,
    namespaces: [namespace],
  });
  const stop = new AbortController();
  running = { stop, done: manager.run(stop.signal) };
}
const create = (namespace: string, name: string) =>
  client.create(Guard, manifest(Guard, { name, namespace }, { spec: {} }));
const statusOf = async (namespace: string, name: string) =>
  (await client.find(Guard, { namespace, name }))?.status?.text;
const patience = { timeout: 15_000, interval: 20 };

/** Resolves when no turn has begun for this long. */
async function untilQuiet(turns: readonly string[], ms = 500): Promise<void> {
  for (let before = -1; before !== turns.length; ) {
    before = turns.length;
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

describe('a watch of some fields', () => {
  it('shows those fields, and a change of nothing else wakes nobody', async () => {
    const namespace = await env.createNamespace();
    const turns: string[] = [];
    const watch: Watch<typeof Guard> = { kind: ConfigMap, relate: () => [{ name: 'settings' }], fields: ['data.held'] };
    const operator = defineOperator({
      name: 'guard',
      resource: Guard,
      owns: [],
      watches: [watch],
      reconcile: ({ self, related }) => {
        turns.push(self.metadata.name);
        return apply({ objects: [], status: { text: JSON.stringify(related.get(ConfigMap, 'settings')?.data) } });
      },
    });
    const settings = { namespace, name: 'settings' };
    await client.create(ConfigMap, manifest(ConfigMap, settings, { data: { held: '1', other: '1' } }));
    start(operator, namespace);
    await create(namespace, 'a');
    await expect.poll(() => statusOf(namespace, 'a'), patience).toBe('{"held":"1"}');
    await untilQuiet(turns);

    const before = turns.length;
    for (const other of ['2', '3'])
      await client.patch(ConfigMap, settings, { type: 'merge', value: { data: { other } } });
    await untilQuiet(turns);
    expect(turns.length - before).toBe(0);

    await client.patch(ConfigMap, settings, { type: 'merge', value: { data: { held: '2' } } });
    await expect.poll(() => statusOf(namespace, 'a'), patience).toBe('{"held":"2"}');
  }, 60_000);
});
