import { createClient, isFault, type KubeClient, loadConfig } from '@keelson/kube';
import {
  ClusterRole,
  ConfigMap,
  Deployment,
  type Kind,
  type KubeObject,
  Secret,
  Service,
  toCrd,
} from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apply, reject, wait } from '../decision.ts';
import { defineEffect } from '../effect.ts';
import { defineLifecycle } from '../lifecycle.ts';
import { marks } from '../marks.ts';
import { conditionsOf } from '../status/next.ts';
import { Bundle, startWorkbench, type Workbench, type WorkbenchOptions } from './workbench.ts';

let env: TestEnv;
let admin: KubeClient;
let namespace: string;
let bench: Workbench;
const user = 'bench-operator';
const owns = [ConfigMap, Secret, Service, Deployment, ClusterRole];

beforeAll(async () => {
  env = await startTestEnv({ crds: [toCrd(Bundle)] });
  admin = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
});
afterAll(async () => {
  await admin?.close();
  await env?.stop();
});
beforeEach(async () => {
  namespace = await env.createNamespace();
  bench = await start();
});
afterEach(async () => {
  await bench?.close();
});

async function start(more: Partial<WorkbenchOptions> = {}): Promise<Workbench> {
  const kubeconfig = await env.kubeconfigFor({ user, groups: ['system:masters'] });
  return startWorkbench({ kubeconfig, namespace, owns, ...more });
}
async function restartWith(more: Partial<WorkbenchOptions>): Promise<void> {
  await bench.close();
  bench = await start(more);
}

const configMap = (name: string, data: Record<string, string> = { a: '1' }): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
const clusterRole = (name: string): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
});
const deployment = (name: string, replicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'web', image: 'nginx', ports: [{ containerPort: 80 }] }] },
    },
  },
});

const condition = async (name: string, type: string) =>
  conditionsOf((await bench.self(name))?.status).find((one) => one.type === type);
const writesDuring = async (work: () => Promise<unknown>): Promise<string[]> => {
  const since = await env.audit.mark();
  await work();
  const entries = await env.audit.writesBy(user, { since });
  return entries.map(
    ({ verb, resource, subresource, name }) => `${verb} ${[resource, subresource].filter(Boolean).join('/')} ${name}`,
  );
};
const patch = (kind: Kind, name: string, value: unknown): Promise<KubeObject> =>
  admin.patch(
    kind,
    kind.scope === 'Namespaced' ? { namespace, name } : { name },
    { type: 'merge', value },
    { fieldManager: 'somebody' },
  );

describe('converging', () => {
  it('makes the children with their marks, says so in the status, and then writes nothing', async () => {
    const self = await bench.create('web', { replicas: 2 });
    bench.rules = ({ self: { spec } }) => apply({ objects: [configMap('web'), deployment('web', spec.replicas ?? 0)] });

    const first = await bench.turn('web');
    expect(first).toEqual({ result: 'applied', steps: 2, statusWritten: true });
    expect((await bench.find(ConfigMap, 'web'))?.metadata).toMatchObject({
      labels: {
        [marks.managedBy]: 'bench-operator',
        [marks.ownerUid]: self.metadata.uid,
        [marks.partOf]: `${namespace}-web`,
      },
      annotations: { [marks.owner]: `Bundle/${namespace}/web` },
      ownerReferences: [{ kind: 'Bundle', uid: self.metadata.uid, controller: true, blockOwnerDeletion: true }],
    });
    expect((await bench.self('web'))?.status).toMatchObject({
      observedGeneration: 1,
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'Progressing',
          message: 'Deployment web: 0/2 replicas ready',
          observedGeneration: 1,
        },
        { type: 'Accepted', status: 'True', reason: 'Valid' },
        { type: 'Applied', status: 'True', reason: 'Applied' },
      ],
    });
    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);
    await bench.restart();
    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);
  });

  it('undoes what somebody changed by hand, on the fields it owns only', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [deployment('web', 2)] });
    await bench.turn('web');
    await patch(Deployment, 'web', { metadata: { labels: { theirs: 'x' } }, spec: { replicas: 5, paused: true } });
    await bench.seen(Deployment, 'web', (live) => (live?.object as Deployment | undefined)?.spec.replicas === 5);

    expect(await bench.turn('web')).toMatchObject({ result: 'applied', steps: 1 });
    expect(bench.events.at(-1)).toMatchObject({
      reason: 'Changed',
      message: expect.stringContaining('spec.replicas: 5 → 2'),
    });
    const live = await bench.find(Deployment, 'web');
    expect(live).toMatchObject({ metadata: { labels: { theirs: 'x' } }, spec: { replicas: 2, paused: true } });
    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);
  });

  it('makes again what somebody deleted, and says so', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [configMap('web')] });
    await bench.turn('web');
    await bench.turn('web');
    await admin.delete(ConfigMap, { namespace, name: 'web' });
    await bench.seen(ConfigMap, 'web', (live) => live === undefined);

    expect(await bench.turn('web')).toMatchObject({ result: 'applied', steps: 1 });
    expect(await bench.find(ConfigMap, 'web')).toMatchObject({ data: { a: '1' } });
  });

  it('takes back a child that lost its labels, instead of taking it for a stranger', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [configMap('web')] });
    await bench.turn('web');
    await patch(ConfigMap, 'web', { metadata: { labels: null } });
    await bench.seen(ConfigMap, 'web', (live) => live === undefined);

    expect(await bench.turn('web')).toMatchObject({ result: 'applied', steps: 1 });
    expect((await bench.find(ConfigMap, 'web'))?.metadata.labels).toMatchObject({
      [marks.managedBy]: 'bench-operator',
    });
    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);
  });

  it('changes and deletes as the decision changes', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [configMap('a'), configMap('b', { x: '1', y: '2' })] });
    await bench.turn('web');
    bench.rules = () => apply({ objects: [configMap('b', { x: '2' })] });

    expect(await writesDuring(() => bench.turn('web'))).toEqual(['patch configmaps b', 'delete configmaps a']);
    expect(await bench.find(ConfigMap, 'a')).toBeUndefined();
    expect((await bench.find(ConfigMap, 'b'))?.data).toEqual({ x: '2' });
    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);
  });

  it('does not delete what looks like its own but carries another uid', async () => {
    await bench.create('web');
    await admin.create(ConfigMap, {
      ...configMap('alien'),
      metadata: {
        name: 'alien',
        namespace,
        labels: { [marks.managedBy]: 'bench-operator', [marks.ownerUid]: 'someone-else' },
      },
    } as ConfigMap);
    await bench.seen(ConfigMap, 'alien', (live) => live !== undefined);
    await bench.turn('web');
    expect(await bench.find(ConfigMap, 'alien')).toBeDefined();
  });

  it('writes a Secret once, and no value of it into events', async () => {
    await bench.create('web');
    const secret = (password: string) =>
      apply<Bundle>({
        objects: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { password } }],
      });
    bench.rules = () => secret('first-password');
    await bench.turn('web');
    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);
    bench.rules = () => secret('second-password');
    await bench.turn('web');
    expect(bench.events.at(-1)?.message).toContain('data.password: changed');
    expect(JSON.stringify(bench.events)).not.toMatch(/password-|first|second|Zmlyc3|c2Vjb2/);
  });
});

describe('the status', () => {
  it('moves lastTransitionTime only when the status of a condition flips', async () => {
    await bench.create('web');
    const ready = (status: 'True' | 'False', message: string) => () =>
      apply<Bundle>({ objects: [], status: { conditions: [{ type: 'Ready', status, reason: 'Test', message }] } });
    bench.rules = ready('False', 'one');
    await bench.turn('web');
    const first = await condition('web', 'Ready');
    bench.ahead(60_000);
    bench.rules = ready('False', 'two');
    await bench.turn('web');
    expect(await condition('web', 'Ready')).toMatchObject({
      message: 'two',
      lastTransitionTime: first?.lastTransitionTime,
    });
    bench.rules = ready('True', 'two');
    await bench.turn('web');
    expect((await condition('web', 'Ready'))?.lastTransitionTime).not.toBe(first?.lastTransitionTime);
  });

  it('replaces what it said before, and leaves what others say alone', async () => {
    await bench.create('web');
    bench.rules = () =>
      apply({
        objects: [],
        status: { phase: 'A', text: 'x', conditions: [{ type: 'Mine', status: 'True', reason: 'R', message: '' }] },
      });
    await bench.turn('web');
    const theirs = {
      type: 'Theirs',
      status: 'True',
      reason: 'R',
      message: 'm',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    await admin.apply(
      Bundle as Kind,
      {
        apiVersion: 'bench.keelson.io/v1',
        kind: 'Bundle',
        metadata: { name: 'web', namespace },
        status: { conditions: [theirs] },
      },
      { fieldManager: 'somebody', subresource: 'status' },
    );
    await bench.seen(Bundle, 'web', (live) => conditionsOf(live?.object.status).length === 5);

    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);
    bench.rules = () => apply({ objects: [], status: { phase: 'B' } });
    await bench.turn('web');
    const status = (await bench.self('web'))?.status as { phase?: string; text?: string };
    expect([status.phase, status.text]).toEqual(['B', undefined]);
    expect(
      conditionsOf(status)
        .map(({ type }) => type)
        .sort(),
    ).toEqual(['Accepted', 'Applied', 'Ready', 'Theirs']);
    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);
  });

  it('does not let a status field that the schema does not have cause a write each turn', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [], status: { phase: 'A', unknown: 1 } as never });
    await bench.turn('web');
    expect((await bench.self('web'))?.status).toMatchObject({ phase: 'A' });
    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);
  });

  it('calls a status that the schema does not allow a bug, and names the field', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [], status: { phase: 7 } as never });
    await expect(bench.turn('web')).rejects.toThrow('status.phase: must be a string, got 7');
  });

  it('keeps what it said while it waits, and touches nothing', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [configMap('web')], status: { phase: 'Up' } });
    await bench.turn('web');
    bench.rules = () => wait({ reason: 'NoDatabase', message: 'waiting for db', recheckAfter: '30s' });
    expect(await bench.turn('web')).toEqual({
      result: 'waiting',
      steps: 0,
      statusWritten: true,
      requeueAfterMs: 30_000,
    });
    expect((await bench.self('web'))?.status).toMatchObject({ phase: 'Up' });
    expect(await condition('web', 'Ready')).toMatchObject({
      status: 'False',
      reason: 'NoDatabase',
      message: 'waiting for db',
    });
    expect(await condition('web', 'Applied')).toMatchObject({ status: 'True' });
    expect(await bench.find(ConfigMap, 'web')).toBeDefined();
  });

  it('says that a spec is rejected, once', async () => {
    await bench.create('web');
    bench.rules = () => reject({ reason: 'BadText', message: 'text and replicas exclude each other' });
    expect(await bench.turn('web')).toEqual({ result: 'rejected', steps: 0, statusWritten: true });
    expect(await condition('web', 'Accepted')).toMatchObject({ status: 'False', reason: 'BadText' });
    expect(await condition('web', 'Ready')).toMatchObject({ status: 'False', reason: 'BadText' });
    expect(bench.events).toMatchObject([{ type: 'Warning', reason: 'BadText' }]);
    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);
  });

  it('makes each step of a life cycle an event, and does not write an illegal one', async () => {
    const lifecycle = defineLifecycle({
      field: 'phase',
      initial: 'New',
      states: ['New', 'Up', 'Done'],
      transitions: { New: ['Up'], Up: ['Done'] },
    });
    const moves: unknown[] = [];
    await restartWith({ definition: { lifecycle }, hooks: { transition: (move) => moves.push(move) } });
    await bench.create('web');
    bench.rules = () => apply({ objects: [], status: { phase: 'Up' } });
    await bench.turn('web');
    expect(moves).toEqual([{ from: undefined, to: 'Up' }]);
    expect(bench.events).toMatchObject([{ reason: 'Up', message: 'new → Up' }]);
    bench.rules = () => apply({ objects: [], status: { phase: 'New' } });
    await expect(bench.turn('web')).rejects.toThrow("status.phase may not go from 'Up' to 'New'");
    expect((await bench.self('web'))?.status).toMatchObject({ phase: 'Up' });
    expect(await condition('web', 'Applied')).toMatchObject({ status: 'False', reason: 'OperatorBug' });
  });
});

describe('bad input', () => {
  it('refuses an object of somebody else, names them, and goes on with the rest', async () => {
    await bench.create('web');
    await admin.create(ConfigMap, { ...configMap('web'), metadata: { name: 'web', namespace } } as ConfigMap, {
      fieldManager: 'helm',
    });
    bench.rules = () => apply({ objects: [configMap('web', { a: '2' }), configMap('mine')] });

    expect(await bench.turn('web')).toMatchObject({ result: 'waiting', steps: 1, requeueAfterMs: 60_000 });
    expect(await condition('web', 'Applied')).toMatchObject({
      status: 'False',
      reason: 'OwnedByAnother',
      message: expect.stringMatching(
        new RegExp(`ConfigMap ${namespace}/web exists and was written by helm: .*adoption`),
      ),
    });
    expect(await condition('web', 'Ready')).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
    expect((await bench.find(ConfigMap, 'web'))?.data).toEqual({ a: '1' });
    expect(await bench.find(ConfigMap, 'mine')).toBeDefined();
    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);
  });

  it('takes over what is named for adoption', async () => {
    const self = await bench.create('web');
    const made = await admin.create(
      ConfigMap,
      { ...configMap('web', { a: '1', theirs: 'x' }), metadata: { name: 'web', namespace } } as ConfigMap,
      { fieldManager: 'helm' },
    );
    bench.rules = () => apply({ objects: [configMap('web', { a: '2' })], adopt: [{ kind: ConfigMap, name: 'web' }] });

    expect(await bench.turn('web')).toMatchObject({ result: 'applied', steps: 1 });
    expect(await bench.find(ConfigMap, 'web')).toMatchObject({
      metadata: { uid: made.metadata.uid, ownerReferences: [{ uid: self.metadata.uid }] },
      data: { a: '2', theirs: 'x' },
    });
    expect(bench.events.map(({ reason }) => reason)).toContain('Adopted');
    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);
  });

  it('lets the first of two instances have the object, and tells the second who has it', async () => {
    await bench.create('first');
    await bench.create('second');
    bench.rules = () => apply({ objects: [configMap('shared')] });
    const [first, second] = await Promise.all([bench.turn('first'), bench.turn('second')]);
    expect([first.result, second.result]).toEqual(['applied', 'waiting']);
    expect(await condition('second', 'Applied')).toMatchObject({
      reason: 'OwnedByAnother',
      message: expect.stringContaining(`Bundle/${namespace}/first`),
    });
    // After a restart the marks on the object still tell.
    await bench.restart();
    expect((await bench.turn('second')).result).toBe('waiting');
    expect((await bench.turn('first')).result).toBe('applied');

    bench.rules = ({ self }) => apply({ objects: self.metadata.name === 'first' ? [] : [configMap('shared')] });
    await bench.turn('first');
    expect((await bench.turn('second')).result).toBe('applied');
    expect((await bench.find(ConfigMap, 'shared'))?.metadata.annotations?.[marks.owner]).toBe(
      `Bundle/${namespace}/second`,
    );
  });

  it('rejects an instance that was stored before the schema changed, and still lets it be deleted', async () => {
    const crd = toCrd(Bundle);
    const loose = structuredClone(crd) as unknown as {
      spec: { versions: { schema: { openAPIV3Schema: { properties: { spec: unknown } } } }[] };
    };
    for (const version of loose.spec.versions) {
      version.schema.openAPIV3Schema.properties.spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    }
    await env.applyCrds([loose as unknown as KubeObject]);
    try {
      await expect
        .poll(
          () =>
            bench.create('old', { replicas: -1 }).then(
              () => 'stored',
              (error) => error.code,
            ),
          { timeout: 10_000 },
        )
        .toBe('stored');
    } finally {
      await env.applyCrds([crd as unknown as KubeObject]);
    }
    bench.rules = () => apply({ objects: [configMap('old')] });
    expect(await bench.turn('old')).toMatchObject({ result: 'rejected' });
    expect(await condition('old', 'Accepted')).toMatchObject({
      status: 'False',
      reason: 'InvalidSpec',
      message: expect.stringContaining('spec.replicas: must be at least 0'),
    });
    expect(await bench.find(ConfigMap, 'old')).toBeUndefined();
    expect(await writesDuring(() => bench.turn('old'))).toEqual([]);
  });

  it('tells when the API server refuses an object, once, and throws the fault for the queue', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [{ ...deployment('web', 1), spec: { replicas: 1 } }] });
    const failed = bench.turn('web').catch((error: unknown) => error);
    expect(isFault(await failed, 'Invalid')).toBe(true);
    expect(await condition('web', 'Applied')).toMatchObject({
      status: 'False',
      reason: 'Invalid',
      message: expect.stringMatching(new RegExp(`^could not create Deployment ${namespace}/web: .*correct the spec`)),
    });
    expect(await writesDuring(() => bench.turn('web').catch(() => undefined))).toEqual([]);
  });

  it('says how to get over a field that cannot be changed', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [deployment('web', 1)] });
    await bench.turn('web');
    const other = deployment('web', 1) as {
      spec: { selector: { matchLabels: object }; template: { metadata: { labels: object } } };
    } & KubeObject;
    other.spec.selector.matchLabels = { app: 'other' };
    other.spec.template.metadata.labels = { app: 'other' };
    bench.rules = () => apply({ objects: [other] });
    await expect(bench.turn('web')).rejects.toThrow(/immutable.*delete the object, and it is made anew/s);
  });

  it('calls an exception in the rules a bug, without its message', async () => {
    await bench.create('web');
    bench.rules = () => {
      throw new RangeError('token abc123');
    };
    await expect(bench.turn('web')).rejects.toThrow('token abc123');
    expect(await condition('web', 'Applied')).toMatchObject({
      status: 'False',
      reason: 'OperatorBug',
      message: expect.stringContaining('RangeError'),
    });
    expect((await condition('web', 'Applied'))?.message).not.toContain('abc123');
    bench.rules = () => apply({ objects: [] });
    await bench.turn('web');
    expect(await condition('web', 'Applied')).toMatchObject({ status: 'True' });
  });

  it('neither revives nor mistakes a child that was deleted and made anew behind its back, and does not trouble the user with it', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [configMap('web')] });
    await bench.turn('web');
    bench.rules = () => apply({ objects: [configMap('web', { a: '2' })] });
    const send = bench.client.apply.bind(bench.client);
    bench.client.apply = async (...args) => {
      bench.client.apply = send;
      await admin.delete(ConfigMap, { namespace, name: 'web' });
      await admin.create(ConfigMap, { ...configMap('web'), metadata: { name: 'web', namespace } } as ConfigMap);
      return send(...args) as never;
    };
    await expect(bench.turn('web')).rejects.toMatchObject({ code: 'Conflict' });
    expect((await bench.find(ConfigMap, 'web'))?.data).toEqual({ a: '1' });
    expect(await condition('web', 'Applied')).toMatchObject({ status: 'True' });
    await bench.seen(ConfigMap, 'web', (live) => live === undefined);
    expect((await bench.turn('web')).result).toBe('waiting');
  });

  it('says so when the installed definition is older than the operator', async () => {
    const crd = structuredClone(toCrd(Bundle)) as unknown as {
      spec: {
        versions: {
          schema: { openAPIV3Schema: { properties: { status: { properties: Record<string, unknown> } } } };
        }[];
      };
    };
    for (const version of crd.spec.versions) delete version.schema.openAPIV3Schema.properties.status.properties.text;
    await bench.create('web');
    bench.rules = () => apply({ objects: [], status: { text: 'x' } });
    await env.applyCrds([crd as unknown as KubeObject]);
    try {
      await expect
        .poll(() => bench.turn('web').catch((error: Error) => error.message), { timeout: 10_000 })
        .toMatch(/install the one that this operator was made for/);
      expect(await condition('web', 'Applied')).toMatchObject({ status: 'False', reason: 'KindNotServed' });
    } finally {
      await env.applyCrds([toCrd(Bundle) as unknown as KubeObject]);
    }
    await expect
      .poll(() => bench.turn('web').catch((error: Error) => error.message), { timeout: 10_000 })
      .toMatchObject({ result: 'applied' });
  });
});

describe('effects', () => {
  it('runs them after the objects are there, and lets the operator decide again by their outcome', async () => {
    const seen: unknown[] = [];
    const index = defineEffect<{ name: string }>(async ({ name }, { namespace: where }) => {
      seen.push([name, where, (await bench.find(ConfigMap, 'web')) !== undefined]);
      return { created: name };
    });
    await restartWith({ definition: { effects: { index } } });
    await bench.create('web');
    bench.rules = ({ effects }) => {
      const outcome = effects.get('idx');
      return apply({
        objects: [configMap('web')],
        effects: [{ handler: 'index', key: 'idx', input: { name: 'logs' } }],
        status: { text: outcome?.state === 'done' ? JSON.stringify(outcome.result) : 'none' },
      });
    };
    expect(await bench.turn('web')).toMatchObject({ result: 'applied', requeueAfterMs: 0 });
    expect(seen).toEqual([['logs', namespace, true]]);
    expect(await bench.turn('web')).toEqual({ result: 'applied', steps: 0, statusWritten: true });
    expect((await bench.self('web'))?.status).toMatchObject({ text: '{"created":"logs"}' });
    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);
    expect(seen).toHaveLength(1);
  });
});

describe('a child that is being deleted', () => {
  const holdBack = async (name: string) => {
    await patch(ConfigMap, name, { metadata: { finalizers: ['test.io/hold'] } });
    await admin.delete(ConfigMap, { namespace, name });
    await bench.seen(ConfigMap, name, (live) => live?.object.metadata.deletionTimestamp !== undefined);
  };
  const letGo = async (name: string) => {
    await patch(ConfigMap, name, { metadata: { finalizers: null } });
    await bench.seen(ConfigMap, name, (live) => live === undefined);
  };

  it('is named with what holds it, and made anew only when it is gone', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [configMap('web')] });
    await bench.turn('web');
    await holdBack('web');
    expect(await bench.turn('web')).toMatchObject({ result: 'waiting', steps: 0 });
    expect(await condition('web', 'Applied')).toMatchObject({
      status: 'False',
      reason: 'ChildTerminating',
      message: expect.stringContaining(
        `ConfigMap ${namespace}/web is being deleted, held by the finalizer test.io/hold`,
      ),
    });
    await letGo('web');
    expect(await bench.turn('web')).toMatchObject({ result: 'applied', steps: 1 });
    expect(await condition('web', 'Applied')).toMatchObject({ status: 'True' });
  });

  it('is no trouble while it is not wanted, until it takes too long', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [configMap('web')] });
    await bench.turn('web');
    await patch(ConfigMap, 'web', { metadata: { finalizers: ['test.io/hold'] } });
    await bench.seen(ConfigMap, 'web', (live) => live?.object.metadata.finalizers !== undefined);
    bench.rules = () => apply({ objects: [] });
    expect(await bench.turn('web')).toMatchObject({ result: 'applied', steps: 1, requeueAfterMs: 30_000 });
    bench.ahead(31_000);
    expect(await bench.turn('web')).toMatchObject({ result: 'waiting', steps: 0 });
    expect(await condition('web', 'Applied')).toMatchObject({
      reason: 'ChildTerminating',
      message: expect.stringContaining('test.io/hold'),
    });
    await letGo('web');
    expect(await bench.turn('web')).toMatchObject({ result: 'applied' });
  });
});

describe('deleting an instance', () => {
  const remove = async (name: string) => {
    await admin.delete(Bundle as Kind, { namespace, name });
    await bench.seen(
      Bundle,
      name,
      (live) => live === undefined || live.object.metadata.deletionTimestamp !== undefined,
    );
  };
  const roleName = () => `role-${namespace}`;

  it('needs nothing from us while garbage collection reaches every child', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [configMap('web')] });
    await bench.turn('web');
    expect((await bench.self('web'))?.metadata.finalizers).toBeUndefined();
    await remove('web');
    expect(await bench.turn('web')).toEqual({ result: 'absent', steps: 0, statusWritten: false });
    expect(bench.claims.size).toBe(0);
  });

  it('holds the instance before the first child that garbage collection cannot reach, and removes that child', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [clusterRole(roleName()), configMap('web')] });
    expect(await writesDuring(() => bench.turn('web'))).toEqual([
      'patch bundles web',
      `patch clusterroles ${roleName()}`,
      'patch configmaps web',
      'patch bundles/status web',
    ]);
    expect((await bench.self('web'))?.metadata.finalizers).toEqual([marks.finalizer]);
    expect((await bench.find(ClusterRole, roleName()))?.metadata.ownerReferences).toBeUndefined();
    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);

    await remove('web');
    expect(await bench.turn('web')).toMatchObject({ result: 'deleted' });
    expect(await bench.find(ClusterRole, roleName())).toBeUndefined();
    expect(await bench.self('web')).toBeUndefined();
  });

  it('takes the finalizer off again when nothing needs it any more, and keeps those of others', async () => {
    await bench.create('web', {}, { finalizers: ['test.io/other'] });
    bench.rules = () => apply({ objects: [clusterRole(roleName())] });
    await bench.turn('web');
    expect((await bench.self('web'))?.metadata.finalizers).toEqual(['test.io/other', marks.finalizer]);
    bench.rules = () => apply({ objects: [] });
    await bench.turn('web');
    expect((await bench.self('web'))?.metadata.finalizers).toEqual(['test.io/other']);
    await patch(Bundle, 'web', { metadata: { finalizers: null } });
  });

  it('does not overwrite a finalizer that appeared since the cache looked', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [clusterRole(roleName())] });
    const send = bench.client.patch.bind(bench.client);
    bench.client.patch = async (...args) => {
      bench.client.patch = send;
      await patch(Bundle, 'web', { metadata: { finalizers: ['test.io/fast'] } });
      return send(...args) as never;
    };
    await expect(bench.turn('web')).rejects.toMatchObject({ code: 'Conflict' });
    expect((await bench.self('web'))?.metadata.finalizers).toEqual(['test.io/fast']);
    expect(await bench.find(ClusterRole, roleName())).toBeUndefined();
    await patch(Bundle, 'web', { metadata: { finalizers: null } });
  });

  it('leaves children running when asked to, with no trace of us that could hurt them', async () => {
    const self = await bench.create('web', {}, { annotations: { [marks.deletionPolicy]: 'orphan' } });
    bench.rules = () =>
      apply({
        objects: [{ ...configMap('web'), metadata: { name: 'web', labels: { app: 'web' } } }, clusterRole(roleName())],
      });
    await bench.turn('web');
    expect((await bench.self('web'))?.metadata.finalizers).toEqual([marks.finalizer]);
    await remove('web');
    expect(await bench.turn('web')).toMatchObject({ result: 'deleted' });
    expect(await bench.self('web')).toBeUndefined();
    for (const kind of [ConfigMap, ClusterRole]) {
      const left = await bench.find(kind, kind === ConfigMap ? 'web' : roleName());
      expect(left?.metadata.ownerReferences).toBeUndefined();
      expect(JSON.stringify([left?.metadata.labels, left?.metadata.annotations])).not.toMatch(
        new RegExp(`keelson|bench-operator|${self.metadata.uid}`),
      );
    }
    expect((await bench.find(ConfigMap, 'web'))?.metadata.labels).toEqual({ app: 'web' });

    // A new instance does not get it by accident, only by adoption.
    await bench.create('again');
    bench.rules = () => apply({ objects: [configMap('web')] });
    expect((await bench.turn('again')).result).toBe('waiting');
    bench.rules = () => apply({ objects: [configMap('web')], adopt: [{ kind: ConfigMap, name: 'web' }] });
    expect((await bench.turn('again')).result).toBe('applied');
    await bench.seen(ConfigMap, 'web', (live) => live !== undefined);
    await admin.delete(ClusterRole, { name: roleName() });
  });

  it('waits for a child that is held back, names it, and gives up at the deadline with a warning', async () => {
    await restartWith({ definition: { finalizeDeadline: '5m' } });
    await bench.create('web');
    bench.rules = () => apply({ objects: [clusterRole(roleName())] });
    await bench.turn('web');
    await patch(ClusterRole, roleName(), { metadata: { finalizers: ['test.io/hold'] } });
    await bench.seen(ClusterRole, roleName(), (live) => live?.object.metadata.finalizers !== undefined);
    await remove('web');
    expect(await bench.turn('web')).toMatchObject({ result: 'waiting', requeueAfterMs: expect.any(Number) });
    expect(await condition('web', 'Ready')).toMatchObject({
      reason: 'Terminating',
      message: expect.stringContaining('test.io/hold'),
    });
    expect(await writesDuring(() => bench.turn('web'))).toEqual([]);
    bench.ahead(5 * 60_000 + 1_000);
    expect(await bench.turn('web')).toMatchObject({ result: 'deleted' });
    expect(await bench.self('web')).toBeUndefined();
    expect(bench.events.at(-1)).toMatchObject({
      type: 'Warning',
      reason: 'CleanupAbandoned',
      message: expect.stringContaining(`ClusterRole ${roleName()}`),
    });
    await patch(ClusterRole, roleName(), { metadata: { finalizers: null } });
  });

  it('runs what the operator wants done outside, retries it, and lets an invalid instance go all the same', async () => {
    let works = false;
    const calls: unknown[] = [];
    const close = defineEffect(async (input) => {
      calls.push(input);
      if (!works) throw new Error('provider is down');
    });
    await restartWith({
      definition: {
        effects: { close },
        finalize: ({ self }) => ({
          effects: [{ handler: 'close', key: 'tunnel', input: { name: self.metadata.name } }],
        }),
      },
    });
    await bench.create('web');
    await bench.turn('web');
    await remove('web');
    expect(await bench.turn('web')).toMatchObject({ result: 'waiting' });
    expect(await condition('web', 'Ready')).toMatchObject({
      reason: 'Finalizing',
      message: 'tunnel: provider is down',
    });
    works = true;
    bench.ahead(5_000);
    expect(await bench.turn('web')).toMatchObject({ result: 'deleted' });
    expect(calls).toEqual([{ name: 'web' }, { name: 'web' }]);
    expect(await bench.self('web')).toBeUndefined();
  });
});
