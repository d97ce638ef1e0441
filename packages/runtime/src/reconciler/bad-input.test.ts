import { Fault, isFault } from '@keelson/kube';
import { ClusterRole, ConfigMap, type KubeObject, toCrd } from '@keelson/schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apply } from '../decision.ts';
import { marks } from '../marks.ts';
import { clusterRole, configMap, deployment, type Stage, startStage } from './testing/stage.ts';
import { Bundle } from './testing/workbench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
beforeEach(() => stage.begin());
afterEach(() => stage.end());
afterAll(() => stage?.stop());

describe('bad input', () => {
  it('refuses an object of somebody else, names them, and goes on with the rest', async () => {
    await stage.bench.create('web');
    await stage.admin.create(
      ConfigMap,
      { ...configMap('web'), metadata: { name: 'web', namespace: stage.namespace } } as ConfigMap,
      {
        fieldManager: 'helm',
      },
    );
    stage.bench.rules = () => apply({ objects: [configMap('web', { a: '2' }), configMap('mine')] });

    expect(await stage.bench.turn('web')).toMatchObject({ result: 'waiting', steps: 1, requeueAfterMs: 60_000 });
    expect(await stage.condition('web', 'Applied')).toMatchObject({
      status: 'False',
      reason: 'OwnedByAnother',
      message: expect.stringMatching(
        new RegExp(
          `ConfigMap ${stage.namespace}/web exists already and was written by helm, so it is left alone: delete it if nobody needs it, or give this Bundle`,
        ),
      ),
    });
    expect(await stage.condition('web', 'Ready')).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
    expect((await stage.bench.find(ConfigMap, 'web'))?.data).toEqual({ a: '1' });
    expect(await stage.bench.find(ConfigMap, 'mine')).toBeDefined();
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
  });

  it('takes over what is named for adoption', async () => {
    const self = await stage.bench.create('web');
    const made = await stage.admin.create(
      ConfigMap,
      {
        ...configMap('web', { a: '1', theirs: 'x' }),
        metadata: { name: 'web', namespace: stage.namespace },
      } as ConfigMap,
      { fieldManager: 'helm' },
    );
    stage.bench.rules = () =>
      apply({ objects: [configMap('web', { a: '2' })], adopt: [{ kind: ConfigMap, name: 'web' }] });

    expect(await stage.bench.turn('web')).toMatchObject({ result: 'applied', steps: 1 });
    expect(await stage.bench.find(ConfigMap, 'web')).toMatchObject({
      metadata: { uid: made.metadata.uid, ownerReferences: [{ uid: self.metadata.uid }] },
      data: { a: '2', theirs: 'x' },
    });
    expect(stage.bench.events.map(({ reason }) => reason)).toContain('Adopted');
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
  });

  it('lets the first of two instances have the object, and tells the second who has it', async () => {
    await stage.bench.create('first');
    await stage.bench.create('second');
    stage.bench.rules = () => apply({ objects: [configMap('shared')] });
    const [first, second] = await Promise.all([stage.bench.turn('first'), stage.bench.turn('second')]);
    expect([first.result, second.result]).toEqual(['applied', 'waiting']);
    expect(await stage.condition('second', 'Applied')).toMatchObject({
      reason: 'OwnedByAnother',
      message: expect.stringContaining(`Bundle ${stage.namespace}/first`),
    });
    // After a restart the marks on the object still tell.
    await stage.bench.restart();
    expect((await stage.bench.turn('second')).result).toBe('waiting');
    expect((await stage.bench.turn('first')).result).toBe('applied');

    stage.bench.rules = ({ self }) => apply({ objects: self.metadata.name === 'first' ? [] : [configMap('shared')] });
    await stage.bench.turn('first');
    expect((await stage.bench.turn('second')).result).toBe('applied');
    expect((await stage.bench.find(ConfigMap, 'shared'))?.metadata.annotations?.[marks.owner]).toBe(
      `Bundle/${stage.namespace}/second`,
    );
  });

  it('lets the first of two instances adopt an object, and the second does not fight for it', async () => {
    const name = `shared-${stage.namespace}`;
    const admin = await stage.admin.create(ClusterRole, clusterRole(name) as ClusterRole, { fieldManager: 'helm' });
    await stage.bench.create('first');
    await stage.bench.create('second');
    stage.bench.rules = () => apply({ objects: [clusterRole(name)], adopt: [{ kind: ClusterRole, name }] });
    expect((await stage.bench.turn('first')).result).toBe('applied');
    // Nothing but the marks on the object can tell any more.
    await stage.bench.restart();

    expect((await stage.bench.turn('second')).result).toBe('waiting');
    expect(await stage.condition('second', 'Applied')).toMatchObject({
      reason: 'OwnedByAnother',
      message: expect.stringContaining(`belongs to Bundle ${stage.namespace}/first`),
    });
    const writes = await stage.writesDuring(async () => {
      for (const one of ['first', 'second', 'first', 'second']) await stage.bench.turn(one);
    });
    expect(writes.filter((write) => write.includes('clusterroles'))).toEqual([]);
    expect((await stage.bench.find(ClusterRole, name))?.metadata).toMatchObject({
      uid: admin.metadata.uid,
      annotations: { [marks.owner]: `Bundle/${stage.namespace}/first` },
    });
  });

  it('rejects an instance that was stored before the schema changed, and touches nothing', async () => {
    await stage.withLooseSpec(() => stage.bench.create('old', { replicas: -1 }));
    stage.bench.rules = () => apply({ objects: [configMap('old')] });
    expect(await stage.bench.turn('old')).toMatchObject({ result: 'rejected' });
    expect(await stage.condition('old', 'Accepted')).toMatchObject({
      status: 'False',
      reason: 'InvalidSpec',
      message: expect.stringContaining('spec.replicas: must be at least 0'),
    });
    expect(await stage.bench.find(ConfigMap, 'old')).toBeUndefined();
    expect(await stage.writesDuring(() => stage.bench.turn('old'))).toEqual([]);
  });

  it('tells when the API server refuses an object, once, and throws the fault for the queue', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [{ ...deployment('web', 1), spec: { replicas: 1 } }] });
    const failed = stage.bench.turn('web').catch((error: unknown) => error);
    expect(isFault(await failed, 'Invalid')).toBe(true);
    expect(await stage.condition('web', 'Applied')).toMatchObject({
      status: 'False',
      reason: 'Invalid',
      message: expect.stringMatching(
        new RegExp(`^could not create Deployment ${stage.namespace}/web: .*correct the spec`),
      ),
    });
    expect(await stage.writesDuring(() => stage.bench.turn('web').catch(() => undefined))).toEqual([]);
  });

  it('does not write again for each retry of a fault that only counts differently', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('web')] });
    const send = stage.bench.client.apply.bind(stage.bench.client);
    let attempt = 0;
    stage.bench.client.apply = async (kind, ...rest) => {
      if (kind.kind !== 'ConfigMap') return send(kind, ...rest) as never;
      attempt += 1;
      throw new Fault('Forbidden', `not at resource version ${attempt}`);
    };
    const fail = () => stage.bench.turn('web').catch((error: unknown) => error);
    expect(await stage.writesDuring(fail)).toEqual(['patch bundles/status web']);
    expect(await stage.condition('web', 'Applied')).toMatchObject({
      reason: 'Forbidden',
      message: expect.stringContaining('keelson rbac'),
    });
    expect(await stage.writesDuring(fail)).toEqual([]);
    expect(attempt).toBe(2);
  });

  it('says how to get over a field that cannot be changed', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [deployment('web', 1)] });
    await stage.bench.turn('web');
    const other = deployment('web', 1) as {
      spec: { selector: { matchLabels: object }; template: { metadata: { labels: object } } };
    } & KubeObject;
    other.spec.selector.matchLabels = { app: 'other' };
    other.spec.template.metadata.labels = { app: 'other' };
    stage.bench.rules = () => apply({ objects: [other] });
    await expect(stage.bench.turn('web')).rejects.toThrow(/immutable.*delete the object, and it is made anew/s);
  });

  it('calls an exception in the rules a bug, without its message', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => {
      throw new RangeError('token abc123');
    };
    await expect(stage.bench.turn('web')).rejects.toThrow('token abc123');
    expect(await stage.condition('web', 'Applied')).toMatchObject({
      status: 'False',
      reason: 'OperatorBug',
      message: expect.stringContaining('RangeError'),
    });
    expect((await stage.condition('web', 'Applied'))?.message).not.toContain('abc123');
    stage.bench.rules = () => apply({ objects: [] });
    await stage.bench.turn('web');
    expect(await stage.condition('web', 'Applied')).toMatchObject({ status: 'True' });
  });

  it('neither revives nor mistakes a child that was deleted and made anew behind its back, and does not trouble the user with it', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('web')] });
    await stage.bench.turn('web');
    stage.bench.rules = () => apply({ objects: [configMap('web', { a: '2' })] });
    const send = stage.bench.client.apply.bind(stage.bench.client);
    stage.bench.client.apply = async (...args) => {
      stage.bench.client.apply = send;
      await stage.admin.delete(ConfigMap, { namespace: stage.namespace, name: 'web' });
      await stage.admin.create(ConfigMap, {
        ...configMap('web'),
        metadata: { name: 'web', namespace: stage.namespace },
      } as ConfigMap);
      return send(...args) as never;
    };
    await expect(stage.bench.turn('web')).rejects.toMatchObject({ code: 'Conflict' });
    expect((await stage.bench.find(ConfigMap, 'web'))?.data).toEqual({ a: '1' });
    expect(await stage.condition('web', 'Applied')).toMatchObject({ status: 'True' });
    await stage.bench.seen(ConfigMap, 'web', (live) => live === undefined);
    expect((await stage.bench.turn('web')).result).toBe('waiting');
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
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [], status: { text: 'x' } });
    await stage.env.applyCrds([crd as unknown as KubeObject]);
    try {
      await expect
        .poll(() => stage.bench.turn('web').catch((error: Error) => error.message), { timeout: 10_000 })
        .toMatch(/install the one that this operator was made for/);
      expect(await stage.condition('web', 'Applied')).toMatchObject({ status: 'False', reason: 'KindNotServed' });
    } finally {
      await stage.env.applyCrds([toCrd(Bundle) as unknown as KubeObject]);
    }
    await expect
      .poll(() => stage.bench.turn('web').catch((error: Error) => error.message), { timeout: 10_000 })
      .toMatchObject({ result: 'applied' });
  });
});
