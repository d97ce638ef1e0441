import { createServer } from 'node:net';
import { createClient, Fault, type KubeClient, loadConfig } from '@keelson/kube';
import { ConfigMap, defineResource, Event, type KubeObject, manifest, Type, toCrd } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { apply, wait } from '../decision.ts';
import { createLogger } from '../logging/logger.ts';
import { defineOperator, type OperatorDefinition } from '../operator.ts';
import { createManager, type Manager } from './manager.ts';
import type { ManagerOptions } from './options.ts';

const defineNote = (kind: string) =>
  defineResource({
    group: 'manager.keelson.io',
    version: 'v1',
    kind,
    scope: 'Namespaced',
    description: 'Becomes a ConfigMap.',
    spec: Type.Object({ text: Type.String(), settings: Type.Optional(Type.String()) }),
    status: Type.Object({ length: Type.Optional(Type.Integer()) }),
  });
const [Note, Memo, Draft, Late] = ['Note', 'Memo', 'Draft', 'Late'].map(defineNote) as [Notes, Notes, Notes, Notes];
type Notes = ReturnType<typeof defineNote>;
type Definition = OperatorDefinition<Notes, undefined>;

/** Writes the text of each instance into a ConfigMap of its name. */
const note = (definition: Partial<Definition> = {}) =>
  defineOperator<Notes, undefined>({
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
  env = await startTestEnv({ crds: [Note, Memo, Draft].map((resource) => toCrd(resource)) });
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

const create = (namespace: string, name: string, spec: { text: string; settings?: string }, resource = Note) =>
  client.create(resource, manifest(resource, { name, namespace }, { spec }));
const text = async (namespace: string, name: string): Promise<string | undefined> =>
  (await client.find(ConfigMap, { namespace, name }))?.data?.text;
/** Sum of a counter over the lines that have this label value. */
const counter = (body: string, name: string, label = ''): number =>
  body
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
const conditionOf = (object: unknown, type: string) =>
  (
    object as { status?: { conditions?: { type: string; status: string; reason: string; message: string }[] } }
  ).status?.conditions?.find((condition) => condition.type === type);

describe('somebody else', () => {
  it('who edits or deletes a managed object is undone within a second, and the event says what was done and by whom', async () => {
    const namespace = await env.createNamespace();
    start({ operators: [note()] });
    await create(namespace, 'hello', { text: 'ours' });
    await eventually(
      () => text(namespace, 'hello'),
      (found) => found === 'ours',
    );
    const ref = { namespace, name: 'hello' };
    const took: number[] = [];
    const undone = async (deed: () => Promise<unknown>): Promise<void> => {
      await deed();
      const since = performance.now();
      await eventually(
        () => text(namespace, 'hello'),
        (found) => found === 'ours',
      );
      took.push(performance.now() - since);
    };
    const theirs = { type: 'merge', value: { data: { text: 'theirs' } } } as const;
    for (const _ of [1, 2, 3]) {
      await undone(() => client.patch(ConfigMap, ref, theirs, { fieldManager: 'mallory' }));
      await undone(() => client.delete(ConfigMap, ref));
    }
    // The slowest of six but for one, because a machine that runs other tests may stop for a moment.
    expect(took.sort((a, b) => a - b)[4]).toBeLessThan(1_000);

    const messages = await eventually(
      async () => (await client.listAll(Event, { namespace })).items.map(({ note: message }) => message),
      (found) => found.length >= 3,
    );
    expect(messages).toContain(`changed ConfigMap ${namespace}/hello: data.text: theirs → ours (set by mallory)`);
    expect(messages).toContain(`created ConfigMap ${namespace}/hello again: deleted by somebody else`);
  });
});

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
      resource: Memo,
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
      resource: Draft,
      reconcile() {
        throw new Error('always');
      },
    });
    const { manager, log } = start({ operators: [buggy, broken, note()], namespaces: [namespace] });
    await create(namespace, 'bad', { text: 'bad' }, Memo);
    await create(namespace, 'bad2', { text: 'bad' }, Memo);
    await create(namespace, 'good', { text: 'good' }, Memo);
    await create(namespace, 'any', { text: 'any' }, Draft);
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
    const late = note({ name: 'late', resource: Late });
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
    expect(manager.ready.findings).toContainEqual({
      subject: 'controller late',
      state: 'waiting',
      message: 'waiting for lates.manager.keelson.io',
    });
    expect(finding).toMatchObject({
      message: 'not installed',
      remedy: expect.stringContaining('lates.manager.keelson.io'),
    });
    const answer = await fetch(`http://127.0.0.1:${manager.healthPort}/readyz?verbose`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('install the CustomResourceDefinition lates.manager.keelson.io');
    expect(log().some((line) => line.message === 'waiting: lates.manager.keelson.io is not installed')).toBe(true);

    await env.applyCrds([toCrd(Late)]);
    await create(namespace, 'b', { text: 'at last' }, Late);
    await eventually(
      () => text(namespace, 'b'),
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

  it('looks at each instance again after its resync time, and writes nothing', async () => {
    const namespace = await env.createNamespace();
    const { manager } = start({ operators: [note({ resync: '300ms' })], namespaces: [namespace] });
    await create(namespace, 'a', { text: 'still' });
    await eventually(
      async () => counter((await manager.metrics.scrape()).body, 'controller_runtime_reconcile_total', 'success'),
      (count) => count >= 5,
    );
    const { body } = await manager.metrics.scrape();
    expect(counter(body, 'keelson_steps_total', 'create')).toBe(1);
    expect(counter(body, 'keelson_steps_total', 'change')).toBe(0);
  });

  it('does not repeat what the server will refuse again, until something changes', async () => {
    const namespace = await env.createNamespace();
    const invalid = note({
      reconcile: ({ self }) =>
        apply({ objects: [manifest(ConfigMap, { name: 'out' }, { data: { [self.spec.text]: 'x' } })] }),
    });
    const { manager } = start({ operators: [invalid], namespaces: [namespace] });
    await create(namespace, 'a', { text: 'not/a/key' });
    const terminal = async (): Promise<number> =>
      counter((await manager.metrics.scrape()).body, 'controller_runtime_terminal_reconcile_errors_total');
    // Once more, because the operator may decide otherwise now that it knows; then no more.
    await eventually(terminal, (count) => count === 2);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await terminal()).toBe(2);
    const live = await client.get(Note, { namespace, name: 'a' });
    expect(conditionOf(live, 'Ready')?.status).toBe('False');
    await client.patch(Note, { namespace, name: 'a' }, { type: 'merge', value: { spec: { text: 'key' } } });
    await eventually(
      async () => (await client.find(ConfigMap, { namespace, name: 'out' }))?.data?.key,
      (value) => value === 'x',
    );
  });

  it('ends with the fault with which it cannot go on', async () => {
    const namespace = await env.createNamespace();
    const hopeless = note({
      observe: () => Promise.reject(new Fault('BadConfig', 'no password is set')),
    } as Partial<Definition>);
    const { done } = start({ operators: [hopeless], namespaces: [namespace] });
    await create(namespace, 'a', { text: 'x' });
    await expect(done).rejects.toThrow('no password is set');
  });

  it('starts what runs beside the controllers first, counts it into readiness, and stops it last', async () => {
    const told: string[] = [];
    let isReady = false;
    const { manager, stop, done } = start({
      operators: [note()],
      webhooks: ({ fence }) => ({
        async start() {
          fence.check();
          told.push('start');
        },
        ready: () => ({ ok: isReady, message: 'certificates are being issued' }),
        async stop() {
          told.push('stop');
        },
      }),
    });
    await eventually(
      () => manager.ready.findings,
      (findings) => findings.filter(({ state }) => state === 'failed').length === 1,
    );
    expect(manager.ready.ok).toBe(false);
    expect(manager.ready.findings).toContainEqual({
      subject: 'webhooks',
      state: 'failed',
      message: 'certificates are being issued',
    });
    isReady = true;
    expect(manager.ready.ok).toBe(true);
    stop.abort();
    await done;
    expect(told).toEqual(['start', 'stop']);

    const failing = start({
      operators: [note()],
      webhooks: () => ({
        start: () => Promise.reject(new Error('port 9443 is taken')),
        ready: () => ({ ok: false, message: '' }),
        stop: async () => undefined,
      }),
    });
    await expect(failing.done).rejects.toThrow('port 9443 is taken');
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
    } as Partial<Definition>);
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
    } as Partial<Definition>);
    const { log } = start({ operators: [hanging], namespaces: [namespace], reconcileTimeoutMs: 200 });
    await create(namespace, 'hangs', { text: 'x' });
    await eventually(() => entered, Boolean);
    await create(namespace, 'works', { text: 'y' });
    await eventually(
      () => text(namespace, 'works'),
      (value) => value === 'y',
      12_000,
    );
    const told = log().find(({ key, code }) => key === `${namespace}/hangs` && code === 'TimedOut');
    expect(told?.error).toBe(`the reconcile of ${namespace}/hangs took longer than 0.2 s`);
  });
});

describe('bad input', () => {
  it('operators that would work against each other are refused', () => {
    const make = (other: Partial<Definition>) => () =>
      createManager({ client, leaderElection: false, operators: [note(), note(other)] });
    expect(make({ resource: Memo })).toThrow(
      "operators 'note' and 'note' have the same name 'note': give one of them another",
    );
    expect(make({ name: 'other', resource: Memo, fieldManager: 'note-operator' })).toThrow(
      "the same field manager 'note-operator'",
    );
    expect(make({ name: 'other' })).toThrow(
      'the same resource notes.manager.keelson.io: both would write its status for ever',
    );
  });

  it.each([
    [
      'no permission',
      { user: 'nobody' },
      "allow the operator's ServiceAccount to list and watch notes.manager.keelson.io",
    ],
    [
      'an expired token',
      { serviceAccount: { namespace: 'default', name: 'old' }, expiresInSeconds: 0 },
      'renew the token or certificate',
    ],
  ])('%s is named, with the remedy, in the log and in readiness', async (_, identity, remedy) => {
    const poor = createClient(await loadConfig({ kubeconfig: await env.kubeconfigFor(identity), env: {} }));
    const { manager, log } = start({ client: poor, operators: [note()] });
    const findings = await eventually(
      () => manager.ready.findings.filter(({ state, remedy: words }) => state === 'failed' && words !== undefined),
      ({ length }) => length === 2,
    );
    expect(findings[0]).toMatchObject({
      subject: 'cache notes.manager.keelson.io',
      remedy: expect.stringContaining(remedy),
    });
    const lines = log().filter((line) => line.level === 'error' && line.resource === 'notes.manager.keelson.io');
    expect(lines).toMatchObject([
      { message: 'cannot watch notes.manager.keelson.io', remedy: expect.stringContaining(remedy) },
    ]);
    await poor.close();
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
  it('is not spoiled for all by one operator that may not watch, but says so, and of each operator by itself', async () => {
    const identity = { user: 'half-allowed', groups: ['half-allowed'] };
    const rules = [
      { apiGroups: ['manager.keelson.io'], resources: ['notes'], verbs: ['list', 'watch'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] },
    ];
    await env.adminRequest('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      metadata: { name: 'half' },
      rules,
    });
    await env.adminRequest('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'half' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'half' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'half-allowed' }],
    });
    const poor = createClient(await loadConfig({ kubeconfig: await env.kubeconfigFor(identity), env: {} }));
    const memo = note({ name: 'memo', resource: Memo });
    const serveWith = async (...operators: ManagerOptions['operators']) => {
      const { manager } = start({ client: poor, operators, health: { port: 0, host: '127.0.0.1' } });
      const refused = () => manager.ready.findings.find(({ message }) => message.includes('lacks the permission'));
      await eventually(refused, (finding) => finding !== undefined);
      return async (path: string) => {
        const answer = await fetch(`http://127.0.0.1:${manager.healthPort}${path}`);
        return { status: answer.status, body: await answer.text() };
      };
    };
    const both = await serveWith(note(), memo);
    await eventually(
      () => both('/readyz'),
      ({ status }) => status === 200,
    );
    expect((await both('/readyz?verbose')).body).toContain('cannot watch memos.manager.keelson.io');
    expect((await both('/readyz/note')).status).toBe(200);
    const own = await both('/readyz/memo');
    expect(own.status).toBe(503);
    expect(own.body).toContain('lacks the permission');

    // Nothing works here: a rollout has to stop.
    const alone = await serveWith(memo);
    expect((await alone('/readyz')).status).toBe(503);
    expect((await alone('/readyz')).body).toContain('lacks the permission');
    for (const { stop } of running) stop.abort();
    await Promise.allSettled(running.splice(0).map(({ done }) => done));
    await poor.close();
  });

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
