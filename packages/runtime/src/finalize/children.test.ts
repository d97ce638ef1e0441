import { Fault } from '@keelson/kube';
import { ClusterRole, ClusterRoleBinding, ConfigMap, type Kind, type KubeObject } from '@keelson/schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apply } from '../decision.ts';
import { defineEffect } from '../effect.ts';
import { clusterRole, configMap, type Stage, startStage } from '../reconciler/testing/stage.ts';
import { Bundle } from '../reconciler/testing/workbench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
beforeEach(() => stage.begin());
afterEach(() => stage.end());
afterAll(() => stage?.stop());

const roleName = () => `role-${stage.namespace}`;
const binding = (): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: roleName() },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: roleName() },
  subjects: [],
});
const remove = async (name: string) => {
  await stage.admin.delete(Bundle as Kind, { namespace: stage.namespace, name });
  await stage.bench.seen(Bundle, name, (live) => live?.object.metadata.deletionTimestamp !== undefined);
};

describe('children of an instance that goes', () => {
  it('go in reverse apply order', async () => {
    await stage.restartWith({ owns: [ClusterRole, ClusterRoleBinding] });
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [clusterRole(roleName()), binding()] });
    await stage.bench.turn('web');
    await remove('web');
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([
      `delete clusterrolebindings ${roleName()}`,
      `delete clusterroles ${roleName()}`,
      'patch bundles web',
    ]);
  });

  it('go also when one of them cannot, which is named', async () => {
    await stage.restartWith({ owns: [ClusterRole, ClusterRoleBinding] });
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [clusterRole(roleName()), binding()] });
    await stage.bench.turn('web');
    await remove('web');
    const send = stage.bench.client.delete.bind(stage.bench.client);
    stage.bench.client.delete = async (kind, ...rest) => {
      if (kind.kind === 'ClusterRoleBinding') throw new Fault('Forbidden', 'you shall not');
      return send(kind, ...rest) as never;
    };
    await expect(stage.bench.turn('web')).rejects.toMatchObject({
      code: 'Forbidden',
      message: expect.stringContaining(`could not delete ClusterRoleBinding ${roleName()}: you shall not`),
    });
    expect(await stage.bench.find(ClusterRole, roleName())).toBeUndefined();
    stage.bench.client.delete = send;
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'deleted' });
  });

  it('go before the instance when the operator wants it so, with its words in the status to the end', async () => {
    await stage.restartWith({
      definition: {
        finalize: ({ owned }) => ({
          children: 'first',
          status: { phase: owned.size > 0 ? 'Terminating' : 'Deleted' },
        }),
      },
    });
    // What somebody else holds can be looked at when we have let go.
    await stage.bench.create('web', {}, { finalizers: ['test.io/other'] });
    stage.bench.rules = () => apply({ objects: [configMap('web'), configMap('held')] });
    await stage.bench.turn('web');
    await stage.patch(ConfigMap, 'held', { metadata: { finalizers: ['test.io/hold'] } });
    await stage.bench.seen(ConfigMap, 'held', (live) => live?.object.metadata.finalizers !== undefined);
    await remove('web');

    expect(await stage.bench.turn('web')).toMatchObject({ result: 'waiting' });
    expect(await stage.bench.find(ConfigMap, 'web')).toBeUndefined();
    expect((await stage.bench.self('web'))?.status).toMatchObject({ phase: 'Terminating' });
    expect(await stage.condition('web', 'Ready')).toMatchObject({
      reason: 'Terminating',
      message: expect.stringContaining('test.io/hold'),
    });
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);

    await stage.patch(ConfigMap, 'held', { metadata: { finalizers: null } });
    await stage.bench.seen(ConfigMap, 'held', (live) => live === undefined);
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'deleted' });
    const self = await stage.bench.self('web');
    expect(self?.metadata.finalizers).toEqual(['test.io/other']);
    expect(self?.status).toMatchObject({ phase: 'Deleted' });
    await stage.patch(Bundle, 'web', { metadata: { finalizers: null } });
  });

  it('go at the deadline even if what is outside the cluster cannot be cleaned up', async () => {
    const close = defineEffect(async () => {
      throw new Error('provider is down');
    });
    await stage.restartWith({
      definition: {
        finalizeDeadline: '5m',
        effects: { close },
        finalize: () => ({ effects: [{ handler: 'close', key: 'tunnel', input: {} }] }),
      },
    });
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [clusterRole(roleName())] });
    await stage.bench.turn('web');
    await remove('web');
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'waiting' });
    stage.bench.ahead(5 * 60_000 + 1_000);
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'deleted' });
    expect(await stage.bench.find(ClusterRole, roleName())).toBeUndefined();
    expect(stage.bench.events.at(-1)).toMatchObject({
      reason: 'CleanupAbandoned',
      message: expect.stringContaining('provider is down'),
    });
  });

  it('are held for by the finalizer that the operator names', async () => {
    await stage.restartWith({ definition: { finalizer: 'frp.io/cleanup' } });
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [clusterRole(roleName())] });
    await stage.bench.turn('web');
    expect((await stage.bench.self('web'))?.metadata.finalizers).toEqual(['frp.io/cleanup']);
    await remove('web');
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'deleted' });
    expect(await stage.bench.self('web')).toBeUndefined();
  });
});
