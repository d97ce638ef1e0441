import { createServer } from 'node:net';
import { createClient, Fault, type KubeClient, loadConfig } from '@keelson/kube';
import { ConfigMap, defineResource, type KubeObject, manifest, Type, toCrd } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { apply, wait } from '../decision.ts';
import { createLogger } from '../logging/logger.ts';
import { defineOperator, type OperatorDefinition } from '../operator.ts';
import { createManager, type Manager, type ManagerOptions } from './manager.ts';

const Note = defineResource({
  group: 'manager.keelson.io',
  version: 'v1',
  kind: 'Note',
  scope: 'Namespaced',
  description: 'Becomes a ConfigMap.',
  spec: Type.Object({ text: Type.String(), settings: Type.Optional(Type.String()) }),
  status: Type.Object({ length: Type.Optional(Type.Integer()) }),
});

const Late = defineResource({
  group: 'manager.keelson.io',
  version: 'v1',
  kind: 'Late',
  scope: 'Namespaced',
  description: 'Installed while its operator waits for it.',
  spec: Type.Object({ text: Type.String() }),
  status: Type.Object({}),
});

const note = (definition: Partial<OperatorDefinition<typeof Note, undefined>> = {}) =>
  defineOperator<typeof Note, undefined>({
    name: 'note',
    resource: Note,
    owns: [ConfigMap],
    reconcile: ({ self }) =>
      apply({
        objects: [manifest(ConfigMap, { name: self.metadata.name }, { data: { text: self.spec.text } })],
        status: { length: self.spec.text.length },
      }),
    ...definition,
  });

let env: TestEnv;
let client: KubeClient;
const running: { stop: AbortController; done: Promise<void> }[] = [];

beforeAll(async () => {
  env = await startTestEnv({ crds: [toCrd(Note)] });
  client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
});

afterEach(async () => {
  for (const { stop } of running) stop.abort();
  await Promise.allSettled(running.splice(0).map(({ done }) => done));
});

afterAll(async () => {
  await client?.close();
  await env?.stop();
});

function start(options: Partial<ManagerOptions> & Pick<ManagerOptions, 'operators'>): {
  manager: Manager;
  stop: AbortController;
  done: Promise<void>;
  log: () => Record<string, unknown>[];
} {
  const lines: string[] = [];
  const manager = createManager({
    client,
    leaderElection: false,
    drainMs: 2_000,
    logger: createLogger({ level: 'debug', format: 'json', destination: { write: (text) => lines.push(text) } }),
    ...options,
  });
  const stop = new AbortController();
  const done = manager.run(stop.signal);
  done.catch(() => undefined);
  running.push({ stop, done });
  return { manager, stop, done, log: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

async function eventually<T>(
  what: () => T | Promise<T>,
  isRight: (value: T) => boolean,
  withinMs = 10_000,
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const value = await what();
    if (isRight(value)) return value;
    if (Date.now() > end) expect.fail(`still not after ${withinMs} ms: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const create = (namespace: string, name: string, spec: { text: string; settings?: string }) =>
  client.create(Note, { apiVersion: 'manager.keelson.io/v1', kind: 'Note', metadata: { name, namespace }, spec });
const text = async (namespace: string, name: string): Promise<string | undefined> =>
  (await client.find(ConfigMap, { namespace, name }))?.data?.text;
const conditionOf = (object: unknown, type: string) =>
  (
    object as { status?: { conditions?: { type: string; status: string; reason: string; message: string }[] } }
  ).status?.conditions?.find((condition) => condition.type === type);

describe('a manager', () => {
  it('brings instances to what their operator decides, and repairs what somebody else changes or deletes', async () => {
    const namespace = await env.createNamespace();
    start({ operators: [note()] });
    await create(namespace, 'a', { text: 'hello' });
    await eventually(
      () => text(namespace, 'a'),
      (value) => value === 'hello',
    );

    await client.patch(ConfigMap, { namespace, name: 'a' }, { type: 'merge', value: { data: { text: 'hacked' } } });
    await eventually(
      () => text(namespace, 'a'),
      (value) => value === 'hello',
    );
    await client.delete(ConfigMap, { namespace, name: 'a' });
    await eventually(
      () => text(namespace, 'a'),
      (value) => value === 'hello',
    );

    await client.patch(Note, { namespace, name: 'a' }, { type: 'merge', value: { spec: { text: 'bye' } } });
    await eventually(
      () => text(namespace, 'a'),
      (value) => value === 'bye',
    );
    const live = await eventually(
      () => client.get(Note, { namespace, name: 'a' }),
      (value) => value.status?.length === 3,
    );
    expect(conditionOf(live, 'Ready')?.status).toBe('True');
  });

  it('wakes an instance when something that it relates to changes', async () => {
    const namespace = await env.createNamespace();
    const related = note({
      name: 'related',
      watches: [
        { kind: ConfigMap, relate: (self) => (self.spec.settings === undefined ? [] : [{ name: self.spec.settings }]) },
      ],
      reconcile({ self, related }) {
        const settings = related.get(ConfigMap, self.spec.settings ?? '');
        if (settings === undefined) return wait({ reason: 'NoSettings', message: 'no settings', recheckAfter: '1h' });
        return apply({
          objects: [
            manifest(ConfigMap, { name: `${self.metadata.name}-out` }, { data: { text: `${settings.data?.text}` } }),
          ],
        });
      },
    });
    start({ operators: [related] });
    await create(namespace, 'a', { text: 'x', settings: 'settings' });
    await eventually(
      () => client.get(Note, { namespace, name: 'a' }),
      (live) => conditionOf(live, 'Ready')?.reason === 'NoSettings',
    );
    const settings = await client.create(
      ConfigMap,
      manifest(ConfigMap, { name: 'settings', namespace }, { data: { text: 'one' } }),
    );
    await eventually(
      () => text(namespace, 'a-out'),
      (value) => value === 'one',
    );
    await client.update(ConfigMap, { ...settings, data: { text: 'two' } });
    await eventually(
      () => text(namespace, 'a-out'),
      (value) => value === 'two',
    );
  });

  it('keeps one bad instance, and one bad operator, from touching the others', async () => {
    const namespace = await env.createNamespace();
    const buggy = note({
      name: 'buggy',
      concurrency: 1,
      reconcile({ self }) {
        if (self.spec.text === 'bad') throw new TypeError('cannot read properties of undefined');
        return apply({
          objects: [manifest(ConfigMap, { name: `${self.metadata.name}-buggy` }, { data: { text: self.spec.text } })],
        });
      },
    });
    const broken = note({
      name: 'broken',
      reconcile() {
        throw new Error('always');
      },
    });
    const { manager, log } = start({ operators: [buggy, broken, note()] });
    await create(namespace, 'bad', { text: 'bad' });
    await create(namespace, 'bad2', { text: 'bad' });
    await create(namespace, 'good', { text: 'good' });
    await eventually(
      () => text(namespace, 'good-buggy'),
      (value) => value === 'good',
    );
    await eventually(
      () => text(namespace, 'good'),
      (value) => value === 'good',
    );
    await eventually(
      () => log().filter((line) => line.controller === 'buggy' && String(line.message).startsWith('bug')),
      (lines) => lines.length >= 4,
    );
    const stacks = log().filter((line) => line.controller === 'buggy' && typeof line.error === 'object');
    expect(stacks).toHaveLength(1);
    const { body } = await manager.metrics.scrape();
    expect(body).toMatch(/keelson_reconcile_bugs_total{controller="buggy"} [2-9]/);
    expect(body).toContain('controller_runtime_reconcile_errors_total{controller="broken"}');
    expect(body).not.toContain('keelson_reconcile_bugs_total{controller="note"}');
  });

  it('waits for a resource that is not installed, says so, and goes on by itself; its neighbours work meanwhile', async () => {
    const namespace = await env.createNamespace();
    const late = defineOperator<typeof Late, undefined>({
      name: 'late',
      resource: Late,
      owns: [ConfigMap],
      reconcile: ({ self }) =>
        apply({
          objects: [manifest(ConfigMap, { name: `${self.metadata.name}-late` }, { data: { text: self.spec.text } })],
        }),
    });
    const { manager, log } = start({ operators: [late, note()], health: { port: 0, host: '127.0.0.1' } });
    await create(namespace, 'a', { text: 'meanwhile' });
    await eventually(
      () => text(namespace, 'a'),
      (value) => value === 'meanwhile',
    );
    const finding = await eventually(
      () => manager.ready.findings.find(({ state }) => state === 'waiting'),
      (value) => value !== undefined,
    );
    expect(finding).toMatchObject({
      message: 'not installed',
      remedy: expect.stringContaining('lates.manager.keelson.io'),
    });
    const answer = await fetch(`http://127.0.0.1:${manager.healthPort}/readyz?verbose`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('install the CustomResourceDefinition lates.manager.keelson.io');
    expect(log().some((line) => line.message === 'waiting: lates.manager.keelson.io is not installed')).toBe(true);

    await env.applyCrds([toCrd(Late)]);
    await client.create(Late, {
      apiVersion: 'manager.keelson.io/v1',
      kind: 'Late',
      metadata: { name: 'b', namespace },
      spec: { text: 'at last' },
    });
    await eventually(
      () => text(namespace, 'b-late'),
      (value) => value === 'at last',
      15_000,
    );
  });

  it('is not woken by its own writes', async () => {
    const namespace = await env.createNamespace();
    const { manager } = start({ operators: [note()], namespaces: [namespace] });
    await eventually(() => manager.ready.ok, Boolean);
    for (let n = 0; n < 20; n += 1) await create(namespace, `n${n}`, { text: 'once' });
    await eventually(
      async () => (await client.listAll(ConfigMap, { namespace })).items.length,
      (count) => count >= 20,
    );
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const { body } = await manager.metrics.scrape();
    const total = Number(
      /controller_runtime_reconcile_total{controller="note",result="success"} (\d+)/.exec(body)?.[1],
    );
    // One each; a write that falls on the turn of a second cannot be proven to be ours and costs one more.
    expect(total).toBeGreaterThanOrEqual(20);
    expect(total).toBeLessThanOrEqual(26);
  });

  it('looks only at the namespaces that it is held to', async () => {
    const [mine, theirs] = [await env.createNamespace(), await env.createNamespace()];
    start({ operators: [note()], namespaces: [mine] });
    await create(theirs, 'a', { text: 'no' });
    await create(mine, 'a', { text: 'yes' });
    await eventually(
      () => text(mine, 'a'),
      (value) => value === 'yes',
    );
    expect(await text(theirs, 'a')).toBeUndefined();
  });

  it('finishes what runs when it is stopped, writes events, and serves no longer', async () => {
    const namespace = await env.createNamespace();
    let entered = false;
    const slow = note({
      async observe() {
        entered = true;
        await new Promise((resolve) => setTimeout(resolve, 300));
      },
      reconcile: ({ self }) =>
        apply({
          objects: [manifest(ConfigMap, { name: self.metadata.name }, { data: { text: self.spec.text } })],
          events: [{ type: 'Normal', reason: 'Noted', message: 'written down' }],
        }),
    } as Partial<OperatorDefinition<typeof Note, undefined>>);
    const { manager, stop, done } = start({
      operators: [slow],
      namespaces: [namespace],
      health: { port: 0, host: '127.0.0.1' },
    });
    await create(namespace, 'a', { text: 'slow' });
    await eventually(() => entered, Boolean);
    const port = manager.healthPort;
    stop.abort();
    await done;
    expect(await text(namespace, 'a')).toBe('slow');
    const events = await env.adminRequest<{ items: { note: string; regarding: { name: string } }[] }>(
      'GET',
      `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
    );
    expect(events.items.map(({ note: words, regarding }) => [regarding.name, words])).toContainEqual([
      'a',
      'written down',
    ]);
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
    await expect(manager.run(stop.signal)).rejects.toThrow('run already');
  });

  it('gives up on a reconcile that takes too long, and goes on with others', async () => {
    const namespace = await env.createNamespace();
    let entered = false;
    const hanging = note({
      concurrency: 1,
      async observe({ self }: { self: KubeObject }) {
        if (self.metadata.name !== 'hangs') return;
        entered = true;
        await new Promise(() => {});
      },
    } as Partial<OperatorDefinition<typeof Note, undefined>>);
    const { log } = start({ operators: [hanging], namespaces: [namespace], reconcileTimeoutMs: 200 });
    await create(namespace, 'hangs', { text: 'x' });
    await eventually(() => entered, Boolean);
    await create(namespace, 'works', { text: 'y' });
    await eventually(
      () => text(namespace, 'works'),
      (value) => value === 'y',
      12_000,
    );
    expect(log().some((line) => String(line.message).includes('does not heed its signal'))).toBe(true);
  });
});

describe('bad input', () => {
  it('two operators of one name, or of one field manager, are refused', () => {
    expect(() => createManager({ client, leaderElection: false, operators: [note(), note()] })).toThrow(
      "two operators are named 'note'",
    );
    const other = note({ name: 'other', fieldManager: 'note-operator' });
    expect(() => createManager({ client, leaderElection: false, operators: [note(), other] })).toThrow(
      "same field manager 'note-operator'",
    );
  });

  it('a port that is taken is named, with the remedy', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => blocker.once('listening', resolve));
    const { port } = blocker.address() as { port: number };
    const { done } = start({ operators: [note()], health: { port, host: '127.0.0.1' } });
    const error = await done.catch((reason: unknown) => reason);
    blocker.close();
    expect(error).toBeInstanceOf(Fault);
    expect((error as Fault).message).toBe(
      `health cannot listen on 127.0.0.1:${port}: another process has this port: stop it, or choose another port`,
    );
  });
});

describe('health', () => {
  it('fails when a watch is cut off for too long, names the remedy, and recovers', async () => {
    const { manager } = start({
      operators: [note()],
      health: { port: 0, host: '127.0.0.1' },
      staleness: { disconnectedMs: 1_500 },
    });
    const get = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${manager.healthPort}${path}`);
      return { status: answer.status, body: await answer.text() };
    };
    await eventually(
      () => manager.healthPort,
      (port) => port !== undefined,
    );
    await eventually(
      () => get('/readyz'),
      ({ status }) => status === 200,
    );
    expect(await get('/healthz')).toEqual({ status: 200, body: 'ok\n' });
    expect((await get('/metrics')).body).toContain('keelson_cache_synced');
    expect((await get('/nothing')).status).toBe(404);
    await env.parts.apiserver.stop();
    const sick = await eventually(
      () => get('/readyz?verbose'),
      ({ status }) => status === 503,
      40_000,
    );
    expect(sick.body).toContain('out of date: no sign of life for');
    expect(sick.body).toContain('check that the API server can be reached');
    expect((await get('/healthz')).status).toBe(200);
    await env.parts.apiserver.start();
    await eventually(
      () => get('/readyz'),
      ({ status }) => status === 200,
      30_000,
    );
  }, 120_000);
});
