import { ClusterRole, ConfigMap, type Kind } from '@keelson/schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apply, wait } from '../decision.ts';
import { defineEffect } from '../effect.ts';
import { marks } from '../marks.ts';
import { clusterRole, configMap, type Stage, startStage } from '../reconciler/testing/stage.ts';
import { Bundle } from '../reconciler/testing/workbench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
beforeEach(() => stage.begin());
afterEach(() => stage.end());
afterAll(() => stage?.stop());

describe('deleting an instance', () => {
  const remove = async (name: string) => {
    await stage.admin.delete(Bundle as Kind, { namespace: stage.namespace, name });
    await stage.bench.seen(
      Bundle,
      name,
      (live) => live === undefined || live.object.metadata.deletionTimestamp !== undefined,
    );
  };
  const roleName = () => `role-${stage.namespace}`;

  it('needs nothing from us while garbage collection reaches every child', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('web')] });
    await stage.bench.turn('web');
    expect((await stage.bench.self('web'))?.metadata.finalizers).toBeUndefined();
    await remove('web');
    expect(await stage.bench.turn('web')).toEqual({ result: 'absent', steps: 0, statusWritten: false });
    expect(stage.bench.claims.size).toBe(0);
  });

  it('holds the instance before the first child that garbage collection cannot reach, and removes that child', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [clusterRole(roleName()), configMap('web')] });
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([
      'patch bundles web',
      `patch clusterroles ${roleName()}`,
      'patch configmaps web',
      'patch bundles/status web',
    ]);
    expect((await stage.bench.self('web'))?.metadata.finalizers).toEqual([marks.finalizer]);
    expect((await stage.bench.find(ClusterRole, roleName()))?.metadata.ownerReferences).toBeUndefined();
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);

    await remove('web');
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'deleted' });
    expect(await stage.bench.find(ClusterRole, roleName())).toBeUndefined();
    expect(await stage.bench.self('web')).toBeUndefined();
  });

  it('takes the finalizer off again when nothing needs it any more, and keeps those of others', async () => {
    await stage.bench.create('web', {}, { finalizers: ['test.io/other'] });
    stage.bench.rules = () => apply({ objects: [clusterRole(roleName())] });
    await stage.bench.turn('web');
    expect((await stage.bench.self('web'))?.metadata.finalizers).toEqual(['test.io/other', marks.finalizer]);
    stage.bench.rules = () => apply({ objects: [] });
    await stage.bench.turn('web');
    expect((await stage.bench.self('web'))?.metadata.finalizers).toEqual(['test.io/other']);
    await stage.patch(Bundle, 'web', { metadata: { finalizers: null } });
  });

  it('does not overwrite a finalizer that appeared since the cache looked', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [clusterRole(roleName())] });
    const send = stage.bench.client.patch.bind(stage.bench.client);
    stage.bench.client.patch = async (...args) => {
      stage.bench.client.patch = send;
      await stage.patch(Bundle, 'web', { metadata: { finalizers: ['test.io/fast'] } });
      return send(...args) as never;
    };
    await expect(stage.bench.turn('web')).rejects.toMatchObject({ code: 'Conflict' });
    expect((await stage.bench.self('web'))?.metadata.finalizers).toEqual(['test.io/fast']);
    expect(await stage.bench.find(ClusterRole, roleName())).toBeUndefined();
    await stage.patch(Bundle, 'web', { metadata: { finalizers: null } });
  });

  it('leaves children running when asked to, with no trace of us that could hurt them', async () => {
    const self = await stage.bench.create('web', {}, { annotations: { [marks.deletionPolicy]: 'orphan' } });
    stage.bench.rules = () =>
      apply({
        objects: [{ ...configMap('web'), metadata: { name: 'web', labels: { app: 'web' } } }, clusterRole(roleName())],
      });
    await stage.bench.turn('web');
    expect((await stage.bench.self('web'))?.metadata.finalizers).toEqual([marks.finalizer]);
    await remove('web');
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'deleted' });
    expect(await stage.bench.self('web')).toBeUndefined();
    for (const kind of [ConfigMap, ClusterRole]) {
      const left = await stage.bench.find(kind, kind === ConfigMap ? 'web' : roleName());
      expect(left?.metadata.ownerReferences).toBeUndefined();
      expect(JSON.stringify([left?.metadata.labels, left?.metadata.annotations])).not.toMatch(
        new RegExp(`keelson|bench-operator|${self.metadata.uid}`),
      );
    }
    expect((await stage.bench.find(ConfigMap, 'web'))?.metadata.labels).toEqual({ app: 'web' });

    // A new instance does not get it by accident, only by adoption, or from a person who gives it the marks that it tells.
    await stage.bench.create('again');
    stage.bench.rules = () => apply({ objects: [clusterRole(roleName()), configMap('web')] });
    expect((await stage.bench.turn('again')).result).toBe('waiting');
    const { message = '' } = (await stage.condition('again', 'Applied')) ?? {};
    expect(message).toContain(
      `ClusterRole ${roleName()} and ConfigMap ${stage.namespace}/web exist already and were left behind by an instance that was ` +
        'deleted with the orphan policy, or somebody removed their marks, so they are left alone: delete them if nobody needs them, or give ',
    );
    const [, label = '', annotation = ''] = /label (\S+=\S+) and the annotation (\S+=\S+)/.exec(message) ?? [];
    const toMap = (text: string) => Object.fromEntries([text.split('=')]);
    await stage.patch(ClusterRole, roleName(), { metadata: { labels: toMap(label), annotations: toMap(annotation) } });
    await stage.bench.turn('again');
    await stage.bench.seen(
      ClusterRole,
      roleName(),
      (live) => live?.object.metadata.labels?.[marks.ownerUid] !== undefined,
    );
    expect((await stage.condition('again', 'Applied'))?.message).not.toContain('ClusterRole');
    stage.bench.rules = () => apply({ objects: [configMap('web')], adopt: [{ kind: ConfigMap, name: 'web' }] });
    expect((await stage.bench.turn('again')).result).toBe('applied');
    await stage.bench.seen(ConfigMap, 'web', (live) => live !== undefined);
    expect(await stage.bench.find(ClusterRole, roleName())).toBeUndefined();
  });

  it('protects children that are to be left running also while the operator waits', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('web')] });
    await stage.bench.turn('web');
    await stage.patch(Bundle, 'web', { metadata: { annotations: { [marks.deletionPolicy]: 'orphan' } } });
    await stage.bench.seen(Bundle, 'web', (live) => live?.object.metadata.annotations !== undefined);
    stage.bench.rules = () => wait({ reason: 'NoDatabase', message: 'waiting', recheckAfter: '1m' });
    await stage.bench.turn('web');
    expect((await stage.bench.self('web'))?.metadata.finalizers).toEqual([marks.finalizer]);
    await remove('web');
    await stage.bench.turn('web');
    expect((await stage.bench.find(ConfigMap, 'web'))?.metadata.ownerReferences).toBeUndefined();
  });

  it('waits for a child that is held back, names it, and gives up at the deadline with a warning', async () => {
    await stage.restartWith({ definition: { finalizeDeadline: '5m' } });
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [clusterRole(roleName())] });
    await stage.bench.turn('web');
    await stage.patch(ClusterRole, roleName(), { metadata: { finalizers: ['test.io/hold'] } });
    await stage.bench.seen(ClusterRole, roleName(), (live) => live?.object.metadata.finalizers !== undefined);
    await remove('web');
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'waiting', requeueAfterMs: expect.any(Number) });
    expect(await stage.condition('web', 'Ready')).toMatchObject({
      reason: 'Terminating',
      message: expect.stringContaining('test.io/hold'),
    });
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
    stage.bench.ahead(5 * 60_000 + 1_000);
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'deleted' });
    expect(await stage.bench.self('web')).toBeUndefined();
    expect(stage.bench.events.at(-1)).toMatchObject({
      type: 'Warning',
      reason: 'CleanupAbandoned',
      message: expect.stringContaining(`ClusterRole ${roleName()}`),
    });
    await stage.patch(ClusterRole, roleName(), { metadata: { finalizers: null } });
  });

  it('runs what the operator wants done outside, and tries again until it is done', async () => {
    let works = false;
    const calls: unknown[] = [];
    const close = defineEffect(async (input) => {
      calls.push(input);
      if (!works) throw new Error('provider is down');
    });
    await stage.restartWith({
      definition: {
        effects: { close },
        finalize: ({ self }) => ({
          effects: [{ handler: 'close', key: 'tunnel', input: { name: self.metadata.name } }],
        }),
      },
    });
    await stage.bench.create('web');
    await stage.bench.turn('web');
    await remove('web');
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'waiting' });
    expect(await stage.condition('web', 'Ready')).toMatchObject({
      reason: 'Finalizing',
      message: 'tunnel: provider is down',
    });
    works = true;
    stage.bench.ahead(5_000);
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'deleted' });
    expect(calls).toEqual([{ name: 'web' }, { name: 'web' }]);
    expect(await stage.bench.self('web')).toBeUndefined();
  });

  it('lets an instance go whose spec the schema no longer allows, and says what it could not do', async () => {
    await stage.restartWith({ definition: { finalize: () => ({}) } });
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [clusterRole(roleName())] });
    await stage.bench.turn('web');
    await stage.withLooseSpec(() => stage.patch(Bundle, 'web', { spec: { replicas: -1 } }));
    await stage.bench.seen(
      Bundle,
      'web',
      (live) => (live?.object as { spec?: { replicas?: number } } | undefined)?.spec?.replicas === -1,
    );
    await remove('web');
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'deleted' });
    expect(await stage.bench.self('web')).toBeUndefined();
    expect(await stage.bench.find(ClusterRole, roleName())).toBeUndefined();
    expect(stage.bench.events.at(-1)).toMatchObject({
      type: 'Warning',
      reason: 'FinalizeSkipped',
      message: expect.stringContaining('spec.replicas: must be at least 0'),
    });
  });
});
