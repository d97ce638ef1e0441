/** What is watched beside the instances, in a whole process against a real API server: what is held of it and whom it wakes. */
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { ConfigMap, defineResource, type Instance, manifest, mergeGrants, Type, toCrd } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { apply } from '../decision.ts';
import { silentLogger } from '../logging/logger.ts';
import { createManager } from '../manager/manager.ts';
import type { ManagerOptions } from '../manager/options.ts';
import { defineOperator, type Operator, type Watch } from '../operator.ts';
import { permissions } from '../permissions.ts';

const Guard = defineResource({
  group: 'watches.keelson.io',
  version: 'v1',
  kind: 'Guard',
  scope: 'Namespaced',
  description: 'Of the tests.',
  spec: Type.Object({ text: Type.String({ default: '' }) }),
  status: Type.Object({ text: Type.Optional(Type.String()) }),
});
type Guard = Instance<typeof Guard>;

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
const create = (namespace: string, name: string, text = '') =>
  client.create(Guard, manifest(Guard, { name, namespace }, { spec: { text } }));
const statusOf = async (namespace: string, name: string) =>
  (await client.find(Guard, { namespace, name }))?.status?.text;
const patience = { timeout: 15_000, interval: 20 };

/**
 * Resolves when no turn has begun for this long: more than the second by which the server tells two writes of ours apart. Within
 * one, the engine cannot prove that an echo is its own, and looks once more.
 */
async function untilQuiet(turns: readonly string[], ms = 1_200): Promise<void> {
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

describe('a watch of the operator’s own resource', () => {
  /** Two instances at rest, of an operator whose status says this; and who has had a turn since. */
  async function begin(
    watch: Omit<Watch<typeof Guard>, 'kind' | 'relate'>,
    say: (texts: readonly string[], self: Guard) => string,
  ) {
    const namespace = await env.createNamespace();
    const turns: string[] = [];
    const operator = defineOperator({
      name: 'guard',
      resource: Guard,
      owns: [],
      watches: [{ kind: Guard, relate: () => ['all'], ...watch }],
      reconcile: ({ self, related }) => {
        turns.push(self.metadata.name);
        const texts = related.list(Guard).map(({ metadata, spec }) => `${metadata.name}=${spec.text}`);
        if (related.get(Guard, self.metadata.name) !== undefined) texts.push('itself');
        return apply({ objects: [], status: { text: say(texts.sort(), self) } });
      },
    });
    start(operator, namespace);
    await create(namespace, 'a', '1');
    await create(namespace, 'b', '1');
    await untilQuiet(turns);
    const since = async (deed: () => Promise<unknown>): Promise<string[]> => {
      turns.splice(0);
      await deed();
      await untilQuiet(turns);
      return turns.splice(0).sort();
    };
    const change = (text: string) =>
      client.patch(Guard, { namespace, name: 'a' }, { type: 'merge', value: { spec: { text } } });
    return { namespace, operator, since, change };
  }
  const all = (texts: readonly string[]): string => texts.join();
  const own = (_: readonly string[], { spec }: Guard): string => spec.text;

  it('shows each instance the others, and wakes it when another changes, comes or goes', async () => {
    const { namespace, since, change } = await begin({}, all);
    expect(await statusOf(namespace, 'b')).toBe('a=1');
    await since(() => change('2'));
    expect(await statusOf(namespace, 'b')).toBe('a=2');
    await since(() => create(namespace, 'c', '1'));
    expect(await statusOf(namespace, 'a')).toBe('b=1,c=1');
    await since(() => client.delete(Guard, { namespace, name: 'c' }));
    expect(await statusOf(namespace, 'a')).toBe('b=1');
  }, 60_000);

  it('comes to rest: a status that one writes wakes the other once at most, and never itself', async () => {
    const { since, change } = await begin({}, own);
    const turns = await since(() => change('2'));
    expect(turns.filter((name) => name === 'a')).toEqual(['a']);
    // For the spec of the other, and for its status.
    expect(turns.filter((name) => name === 'b').length).toBeLessThanOrEqual(2);
    expect(await since(() => new Promise((resolve) => setTimeout(resolve, 1_000)))).toEqual([]);
  }, 60_000);

  it('held to the spec does not wake for a status at all', async () => {
    const { namespace, since, change } = await begin({ fields: ['spec'] }, all);
    expect(await since(() => change('2'))).toContain('b');
    expect(await statusOf(namespace, 'b')).toBe('a=2');
    const status = { type: 'merge', value: { status: { text: 'theirs' } } } as const;
    const touch = () => client.patch(Guard, { namespace, name: 'a' }, status, { subresource: 'status' });
    expect(await since(touch)).not.toContain('b');
    expect(await statusOf(namespace, 'a')).toBe('b=1');
  }, 60_000);

  it('needs no permission that the operator does not have already', async () => {
    const { operator } = await begin({}, own);
    const verbsOf = (one: Operator): readonly string[][] =>
      mergeGrants(permissions([one]))
        .filter(({ resources }) => resources.includes('guards'))
        .map(({ verbs }) => [...verbs].sort());
    expect(verbsOf(operator)).toEqual(verbsOf({ ...operator, watches: [] }));
  }, 60_000);
});
