/** What an operator keeps without wanting it, against a real API server. */
import { ClusterRole, ConfigMap, type Kind } from '@keelson/schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apply } from '../decision.ts';
import { clusterRole, configMap, type Stage, startStage } from './testing/stage.ts';
import { Bundle } from './testing/workbench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
beforeEach(() => stage.begin());
afterEach(() => stage.end());
afterAll(() => stage?.stop());

const roleName = () => `role-${stage.namespace}`;
const held = () => [
  { kind: ConfigMap, name: 'held' },
  { kind: ClusterRole, name: roleName() },
];

/** An instance that made two objects and now holds them, of which a third is no longer wanted. */
async function beginHolding(): Promise<void> {
  await stage.bench.create('web');
  stage.bench.rules = () =>
    apply({ objects: [configMap('held'), clusterRole(roleName()), configMap('old'), configMap('web')] });
  await stage.bench.turn('web');
  stage.bench.rules = () => apply({ objects: [configMap('web')], keep: held() });
}

describe('what is kept', () => {
  it('is neither written nor deleted while the rest goes on, and nothing is written at rest', async () => {
    await beginHolding();
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual(['delete configmaps old']);
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
    expect(await stage.condition('web', 'Ready')).toMatchObject({ status: 'True' });

    await stage.patch(ConfigMap, 'held', { data: { a: 'theirs' } });
    await stage.bench.seen(ConfigMap, 'held', (live) => JSON.stringify(live?.object.data) === '{"a":"theirs"}');
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
  });

  it('is wanted again as if nothing had been, and deleted once it is neither', async () => {
    await beginHolding();
    await stage.bench.turn('web');
    stage.bench.rules = () => apply({ objects: [configMap('held'), configMap('web')], keep: held() });
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
    stage.bench.rules = () => apply({ objects: [configMap('web')] });
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([
      `delete configmaps held`,
      `delete clusterroles ${roleName()}`,
      'patch bundles web',
    ]);
  });

  it('still needs the finalizer where garbage collection does not reach it, and goes with the instance', async () => {
    await beginHolding();
    await stage.bench.turn('web');
    expect((await stage.bench.self('web'))?.metadata.finalizers).toEqual(['keelson.io/finalizer']);
    await stage.admin.delete(Bundle as Kind, { namespace: stage.namespace, name: 'web' });
    await stage.bench.seen(Bundle, 'web', (live) => live?.object.metadata.deletionTimestamp !== undefined);
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'deleted' });
    expect(await stage.bench.find(ClusterRole, roleName())).toBeUndefined();
    expect(await stage.bench.self('web')).toBeUndefined();
  });

  it('is kept by a new process too', async () => {
    await beginHolding();
    await stage.bench.turn('web');
    await stage.bench.restart();
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
    expect(await stage.bench.find(ConfigMap, 'held')).toBeDefined();
  });
});
