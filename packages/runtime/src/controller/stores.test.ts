import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { type Condition, ConfigMap, defineResource, type KubeObject, manifest, Type, toCrd } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { apply } from '../decision.ts';
import { silentLogger } from '../logging/logger.ts';
import { createManager, type Manager } from '../manager/manager.ts';
import type { ManagerOptions } from '../manager/options.ts';
import { defineOperator } from '../operator.ts';

const define = (kind: string) =>
  defineResource({
    group: 'stores.keelson.io',
    version: 'v1',
    kind,
    scope: 'Namespaced',
    description: 'Of the tests.',
    spec: Type.Object({ text: Type.Optional(Type.String()) }),
    status: Type.Object({ text: Type.Optional(Type.String()) }),
  });
const Guard = define('Guard');
const Policy = define('Policy');
const Extra = define('Extra');

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

function start(operator: ManagerOptions['operators'][number], options: Partial<ManagerOptions> = {}): Manager {
  const manager = createManager({
    client,
    operators: [operator],
    leaderElection: false,
    logger: silentLogger,
    ...options,
  });
  const stop = new AbortController();
  running = { stop, done: manager.run(stop.signal) };
  return manager;
}
const condition = (object: KubeObject | undefined, type: string): Condition | undefined =>
  (object?.status as { conditions?: Condition[] } | undefined)?.conditions?.find((one) => one.type === type);
const patience = { timeout: 15_000, interval: 50 };

describe('optional kinds', () => {
  it('hold up nothing while they are missing, are named where they are wanted, and are gone on with once they are there', async () => {
    const namespace = await env.createNamespace();
    const operator = defineOperator({
      name: 'guard',
      resource: Guard,
      owns: [ConfigMap, { kind: Policy, optional: true }],
      watches: [{ kind: Extra, optional: true, relate: ({ metadata }) => [{ name: metadata.name }] }],
      reconcile: ({ self, served, related }) =>
        apply({
          objects: [
            manifest(ConfigMap, { name: self.metadata.name }, { data: { a: '1' } }),
            manifest(Policy, { name: self.metadata.name }, { spec: { text: 'x' } }),
          ],
          status: { text: `${served(Policy)} ${served(Extra)} ${related.size}` },
        }),
    });
    const manager = start(operator);
    const find = () => client.find(Guard, { namespace, name: 'a' });
    await client.create(Guard, manifest(Guard, { name: 'a', namespace }, { spec: {} }));

    await expect
      .poll(async () => condition(await find(), 'Applied'), patience)
      .toMatchObject({
        status: 'False',
        reason: 'KindNotServed',
        message: expect.stringMatching(
          /^Policy .*\/a waits for its kind: policies\.stores\.keelson\.io is not installed/,
        ),
      });
    expect((await find())?.status).toMatchObject({ text: 'false false 0' });
    expect(await client.find(ConfigMap, { namespace, name: 'a' })).toBeDefined();
    expect(manager.ready).toMatchObject({ ok: true });
    expect(manager.ready.findings).toContainEqual({ subject: 'controller guard', state: 'ok', message: 'working' });

    await env.applyCrds([toCrd(Policy)]);
    await expect.poll(async () => condition(await find(), 'Applied'), patience).toMatchObject({ status: 'True' });
    expect(await client.find(Policy, { namespace, name: 'a' })).toBeDefined();
    expect((await find())?.status).toMatchObject({ text: 'true false 0' });

    await env.applyCrds([toCrd(Extra)]);
    await client.create(Extra, manifest(Extra, { name: 'a', namespace }, { spec: {} }));
    await expect.poll(async () => (await find())?.status, patience).toMatchObject({ text: 'true true 1' });
  }, 60_000);
});

describe('an operator that is held to a namespace', () => {
  it('watches what it owns anywhere also in others, and removes it there', async () => {
    const [home, away] = [await env.createNamespace(), await env.createNamespace()];
    const operator = defineOperator({
      name: 'guard',
      resource: Guard,
      owns: [{ kind: ConfigMap, anywhere: true }],
      reconcile: () =>
        apply({ objects: [manifest(ConfigMap, { name: 'far', namespace: away }, { data: { a: '1' } })] }),
    });
    start(operator, { namespaces: [home] });
    const far = { namespace: away, name: 'far' };
    await client.create(Guard, manifest(Guard, { name: 'b', namespace: home }, { spec: {} }));
    await expect.poll(() => client.find(ConfigMap, far), patience).toBeDefined();
    await client.patch(ConfigMap, far, { type: 'merge', value: { data: { a: '2' } } });
    await expect.poll(async () => (await client.find(ConfigMap, far))?.data, patience).toEqual({ a: '1' });
    await client.delete(Guard, { namespace: home, name: 'b' });
    await expect.poll(() => client.find(Guard, { namespace: home, name: 'b' }), patience).toBeUndefined();
    expect(await client.find(ConfigMap, far)).toBeUndefined();
  }, 60_000);
});
