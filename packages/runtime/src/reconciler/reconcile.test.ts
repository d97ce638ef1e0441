import { ConfigMap, Deployment } from '@keelson/schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apply } from '../decision.ts';
import { defineEffect } from '../effect.ts';
import { marks } from '../marks.ts';
import { configMap, deployment, type Stage, startStage } from './testing/stage.ts';
import type { Bundle } from './testing/workbench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
beforeEach(() => stage.begin());
afterEach(() => stage.end());
afterAll(() => stage?.stop());

describe('converging', () => {
  it('makes the children with their marks, says so in the status, and then writes nothing', async () => {
    const self = await stage.bench.create('web', { replicas: 2 });
    stage.bench.rules = ({ self: { spec } }) =>
      apply({ objects: [configMap('web'), deployment('web', spec.replicas ?? 0)] });

    const first = await stage.bench.turn('web');
    expect(first).toEqual({ result: 'applied', steps: 2, statusWritten: true });
    expect((await stage.bench.find(ConfigMap, 'web'))?.metadata).toMatchObject({
      labels: {
        [marks.operator]: 'bench-operator',
        [marks.managedBy]: 'bench-operator',
        [marks.ownerUid]: self.metadata.uid,
        [marks.partOf]: `${stage.namespace}-web`,
      },
      annotations: { [marks.owner]: `Bundle/${stage.namespace}/web` },
      ownerReferences: [{ kind: 'Bundle', uid: self.metadata.uid, controller: true, blockOwnerDeletion: true }],
    });
    expect((await stage.bench.self('web'))?.status).toMatchObject({
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
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
    await stage.bench.restart();
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
  });

  it('undoes what somebody changed by hand, on the fields it owns only', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [deployment('web', 2)] });
    await stage.bench.turn('web');
    await stage.patch(Deployment, 'web', {
      metadata: { labels: { theirs: 'x' } },
      spec: { replicas: 5, paused: true },
    });
    await stage.bench.seen(Deployment, 'web', (live) => (live?.object as Deployment | undefined)?.spec.replicas === 5);

    expect(await stage.bench.turn('web')).toMatchObject({ result: 'applied', steps: 1 });
    expect(stage.bench.events.at(-1)).toMatchObject({
      reason: 'Changed',
      message: expect.stringContaining('spec.replicas: 5 → 2'),
    });
    const live = await stage.bench.find(Deployment, 'web');
    expect(live).toMatchObject({ metadata: { labels: { theirs: 'x' } }, spec: { replicas: 2, paused: true } });
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
  });

  it('makes again what somebody deleted, and says so', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('web')] });
    await stage.bench.turn('web');
    await stage.bench.turn('web');
    await stage.admin.delete(ConfigMap, { namespace: stage.namespace, name: 'web' });
    await stage.bench.seen(ConfigMap, 'web', (live) => live === undefined);

    expect(await stage.bench.turn('web')).toMatchObject({ result: 'applied', steps: 1 });
    expect(await stage.bench.find(ConfigMap, 'web')).toMatchObject({ data: { a: '1' } });
  });

  it('takes back a child that lost its labels, instead of taking it for a stranger', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('web')] });
    await stage.bench.turn('web');
    await stage.patch(ConfigMap, 'web', { metadata: { labels: null } });
    await stage.bench.seen(ConfigMap, 'web', (live) => live === undefined);

    expect(await stage.bench.turn('web')).toMatchObject({ result: 'applied', steps: 1 });
    expect((await stage.bench.find(ConfigMap, 'web'))?.metadata.labels).toMatchObject({
      [marks.operator]: 'bench-operator',
    });
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
  });

  it('changes and deletes as the decision changes', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('a'), configMap('b', { x: '1', y: '2' })] });
    await stage.bench.turn('web');
    stage.bench.rules = () => apply({ objects: [configMap('b', { x: '2' })] });

    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([
      'patch configmaps b',
      'delete configmaps a',
    ]);
    expect(await stage.bench.find(ConfigMap, 'a')).toBeUndefined();
    expect((await stage.bench.find(ConfigMap, 'b'))?.data).toEqual({ x: '2' });
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
  });

  it('does not delete what looks like its own but carries another uid', async () => {
    await stage.bench.create('web');
    await stage.admin.create(ConfigMap, {
      ...configMap('alien'),
      metadata: {
        name: 'alien',
        namespace: stage.namespace,
        labels: { [marks.operator]: 'bench-operator', [marks.ownerUid]: 'someone-else' },
      },
    } as ConfigMap);
    await stage.bench.seen(ConfigMap, 'alien', (live) => live !== undefined);
    await stage.bench.turn('web');
    expect(await stage.bench.find(ConfigMap, 'alien')).toBeDefined();
  });

  it('writes a Secret once, and no value of it into events', async () => {
    await stage.bench.create('web');
    const secret = (password: string) =>
      apply<Bundle>({
        objects: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { password } }],
      });
    stage.bench.rules = () => secret('first-password');
    await stage.bench.turn('web');
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
    stage.bench.rules = () => secret('second-password');
    await stage.bench.turn('web');
    expect(stage.bench.events.at(-1)?.message).toContain('data.password: changed');
    expect(JSON.stringify(stage.bench.events)).not.toMatch(/password-|first|second|Zmlyc3|c2Vjb2/);
  });
});

describe('effects', () => {
  it('runs them after the objects are there, and lets the operator decide again by their outcome', async () => {
    const seen: unknown[] = [];
    const index = defineEffect<{ name: string }>(async ({ name }, { namespace: where }) => {
      seen.push([name, where, (await stage.bench.find(ConfigMap, 'web')) !== undefined]);
      return { created: name };
    });
    await stage.restartWith({ definition: { effects: { index } } });
    await stage.bench.create('web');
    stage.bench.rules = ({ effects }) => {
      const outcome = effects.get('idx');
      return apply({
        objects: [configMap('web')],
        effects: [{ handler: 'index', key: 'idx', input: { name: 'logs' } }],
        status: { text: outcome?.state === 'done' ? JSON.stringify(outcome.result) : 'none' },
      });
    };
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'applied', requeueAfterMs: 0 });
    expect(seen).toEqual([['logs', stage.namespace, true]]);
    expect(await stage.bench.turn('web')).toEqual({ result: 'applied', steps: 0, statusWritten: true });
    expect((await stage.bench.self('web'))?.status).toMatchObject({ text: '{"created":"logs"}' });
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
    expect(seen).toHaveLength(1);
  });
});

describe('a child that is being deleted', () => {
  const holdBack = async (name: string) => {
    await stage.patch(ConfigMap, name, { metadata: { finalizers: ['test.io/hold'] } });
    await stage.admin.delete(ConfigMap, { namespace: stage.namespace, name });
    await stage.bench.seen(ConfigMap, name, (live) => live?.object.metadata.deletionTimestamp !== undefined);
  };
  const letGo = async (name: string) => {
    await stage.patch(ConfigMap, name, { metadata: { finalizers: null } });
    await stage.bench.seen(ConfigMap, name, (live) => live === undefined);
  };

  it('is named with what holds it, and made anew only when it is gone', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('web')] });
    await stage.bench.turn('web');
    await holdBack('web');
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'waiting', steps: 0 });
    expect(await stage.condition('web', 'Applied')).toMatchObject({
      status: 'False',
      reason: 'ChildTerminating',
      message: expect.stringContaining(
        `ConfigMap ${stage.namespace}/web is being deleted, held by the finalizer test.io/hold`,
      ),
    });
    await letGo('web');
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'applied', steps: 1 });
    expect(await stage.condition('web', 'Applied')).toMatchObject({ status: 'True' });
  });

  it('is no trouble while it is not wanted, until it takes too long', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('web')] });
    await stage.bench.turn('web');
    await stage.patch(ConfigMap, 'web', { metadata: { finalizers: ['test.io/hold'] } });
    await stage.bench.seen(ConfigMap, 'web', (live) => live?.object.metadata.finalizers !== undefined);
    stage.bench.rules = () => apply({ objects: [] });
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'applied', steps: 1, requeueAfterMs: 30_000 });
    stage.bench.ahead(31_000);
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'waiting', steps: 0 });
    expect(await stage.condition('web', 'Applied')).toMatchObject({
      reason: 'ChildTerminating',
      message: expect.stringContaining('test.io/hold'),
    });
    await letGo('web');
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'applied' });
  });
});
