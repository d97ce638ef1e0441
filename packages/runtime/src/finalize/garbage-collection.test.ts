/** The engine beside the real garbage collector and the real workload controllers: what we leave to them, they do. */
import { ClusterRole, ConfigMap, Deployment, type Kind } from '@keelson/schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apply } from '../decision.ts';
import { marks } from '../marks.ts';
import { clusterRole, configMap, deployment, type Stage, startStage } from '../reconciler/testing/stage.ts';
import { Bundle } from '../reconciler/testing/workbench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage('cluster');
});
beforeEach(() => stage.begin());
afterEach(() => stage.end());
afterAll(() => stage?.stop());

const roleName = () => `role-${stage.namespace}`;
const remove = async () => {
  await stage.admin.delete(Bundle as Kind, { namespace: stage.namespace, name: 'web' }, { propagation: 'Background' });
  await stage.bench.seen(
    Bundle,
    'web',
    (live) => live === undefined || live.object.metadata.deletionTimestamp !== undefined,
  );
};
/** The collector works on what it has seen: something that must go with the same sweep tells when it is through. */
const collected = (name: string) =>
  expect.poll(() => stage.bench.find(ConfigMap, name), { timeout: 30_000 }).toBeUndefined();

describe('beside the garbage collector', () => {
  it('all children go with the instance: those it reaches and those it does not', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('web'), clusterRole(roleName())] });
    await stage.bench.turn('web');
    await remove();
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'deleted' });
    expect(await stage.bench.find(ClusterRole, roleName())).toBeUndefined();
    await collected('web');
  });

  it('children that are to be left running stay', async () => {
    await stage.bench.create('web', {}, { annotations: { [marks.deletionPolicy]: 'orphan' } });
    await stage.bench.create('other');
    stage.bench.rules = ({ self }) => apply({ objects: [configMap(self.metadata.name)] });
    await stage.bench.turn('web');
    await stage.bench.turn('other');
    await remove();
    await stage.bench.turn('web');
    await expect.poll(() => stage.bench.self('web')).toBeUndefined();
    await stage.admin.delete(Bundle as Kind, { namespace: stage.namespace, name: 'other' });
    await collected('other');
    expect(await stage.bench.find(ConfigMap, 'web')).toBeDefined();
  });

  it('an instance that is made anew at once ends up with a child of its own', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('web')] });
    await stage.bench.turn('web');
    await remove();
    const anew = await stage.bench.create('web');
    await stage.bench.seen(Bundle, 'web', (live) => live?.object.metadata.uid === anew.metadata.uid);
    await expect
      .poll(
        async () => {
          await stage.bench.turn('web').catch(() => undefined);
          return (await stage.bench.find(ConfigMap, 'web'))?.metadata.ownerReferences?.map(({ uid }) => uid);
        },
        { timeout: 30_000 },
      )
      .toEqual([anew.metadata.uid]);
    expect((await stage.bench.turn('web')).result).toBe('applied');
  });
});

describe('beside the workload controllers', () => {
  it('an instance is ready when its pods are, and a converged one stays silent', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [deployment('web', 2)] });
    await stage.bench.turn('web');
    expect(await stage.condition('web', 'Ready')).toMatchObject({ status: 'False', reason: 'Progressing' });
    await stage.bench.seen(
      Deployment,
      'web',
      (live) => (live?.object as Deployment | undefined)?.status?.availableReplicas === 2,
    );
    await stage.bench.turn('web');
    expect(await stage.condition('web', 'Ready')).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
  });
});
