import { isFault } from '@keelson/kube';
import { ClusterRole, ClusterRoleBinding, ConfigMap, Deployment, type KubeObject } from '@keelson/schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apply } from '../decision.ts';
import { deployment, type Stage, startStage } from './testing/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
beforeEach(() => stage.begin());
afterEach(() => stage.end());
afterAll(() => stage?.stop());

/** A Deployment whose selector, which cannot change, is this. */
const selecting = (app: string, replicas = 1): KubeObject => {
  const made = deployment('web', replicas) as KubeObject & {
    spec: { selector: { matchLabels: object }; template: { metadata: { labels: object } } };
  };
  made.spec.selector.matchLabels = { app };
  made.spec.template.metadata.labels = { app };
  return made;
};
const begin = async () => {
  await stage.restartWith({ owns: [{ kind: Deployment, replace: true }] });
  await stage.bench.create('web');
  stage.bench.rules = () => apply({ objects: [selecting('one')] });
  await stage.bench.turn('web');
  return (await stage.bench.find(Deployment, 'web'))?.metadata.uid;
};

describe('a field that cannot change, on a kind that may be replaced', () => {
  it('has the object deleted and made anew, with an event, and then nothing more', async () => {
    const before = await begin();
    stage.bench.rules = () => apply({ objects: [selecting('two')] });
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([
      'delete deployments web',
      'patch deployments web',
    ]);
    const live = await stage.bench.find(Deployment, 'web');
    expect(live?.metadata.uid).not.toBe(before);
    expect(live).toMatchObject({ spec: { selector: { matchLabels: { app: 'two' } } } });
    expect(stage.bench.events).toContainEqual(
      expect.objectContaining({
        reason: 'Replaced',
        message: expect.stringContaining(`Deployment ${stage.namespace}/web`),
      }),
    );
    expect(await stage.condition('web', 'Applied')).toMatchObject({ status: 'True' });
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
  });

  it('waits for the old one to be gone', async () => {
    await begin();
    await stage.patch(Deployment, 'web', { metadata: { finalizers: ['test.io/hold'] } });
    await stage.bench.seen(Deployment, 'web', (live) => live?.object.metadata.finalizers !== undefined);
    stage.bench.rules = () => apply({ objects: [selecting('two')] });
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'waiting' });
    expect(await stage.condition('web', 'Applied')).toMatchObject({
      reason: 'ChildTerminating',
      message: expect.stringContaining('it is made anew afterwards'),
    });
    await stage.patch(Deployment, 'web', { metadata: { finalizers: null } });
    await stage.bench.seen(Deployment, 'web', (live) => live === undefined);
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'applied', steps: 1 });
  });

  it('deletes nothing when the server has more against the object than that', async () => {
    const before = await begin();
    stage.bench.rules = () => apply({ objects: [selecting('two', -1)] });
    expect(isFault(await stage.bench.turn('web').catch((error: unknown) => error), 'Invalid')).toBe(true);
    expect((await stage.bench.find(Deployment, 'web'))?.metadata.uid).toBe(before);
  });

  it('knows the words for a role that cannot be changed in a binding', async () => {
    await stage.restartWith({ owns: [{ kind: ClusterRoleBinding, replace: true }, ClusterRole, ConfigMap] });
    await stage.bench.create('web');
    const name = `binding-${stage.namespace}`;
    const binding = (role: string): KubeObject => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    });
    for (const role of ['view', 'edit']) {
      stage.bench.rules = () => apply({ objects: [binding(role)] });
      expect(await stage.bench.turn('web')).toMatchObject({ result: 'applied', steps: 1 });
    }
    expect(await stage.bench.find(ClusterRoleBinding, name)).toMatchObject({ roleRef: { name: 'edit' } });
    stage.bench.rules = () => apply({ objects: [] });
    await stage.bench.turn('web');
  });
});
