import { ClusterRole, ConfigMap, type Kind } from '@keelson/schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apply, expire } from '../decision.ts';
import { clusterRole, configMap, type Stage, startStage } from './testing/stage.ts';
import { Bundle } from './testing/workbench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
beforeEach(() => stage.begin());
afterEach(() => stage.end());
afterAll(() => stage?.stop());

const over = { reason: 'TimeIsUp', message: 'its two hours are over' };

describe('an instance whose time has come', () => {
  it('is deleted with an event, after its last status, and cleaned up like any other', async () => {
    await stage.restartWith({ definition: { expires: true } });
    const role = `role-${stage.namespace}`;
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [clusterRole(role)] });
    await stage.bench.turn('web');

    stage.bench.rules = () => expire({ ...over, status: { phase: 'Over' } });
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([
      'patch bundles/status web',
      'delete bundles web',
    ]);
    const self = await stage.bench.self('web');
    expect(self?.metadata.deletionTimestamp).toBeDefined();
    expect(self?.status).toMatchObject({ phase: 'Over' });
    expect(stage.bench.events.at(-1)).toMatchObject({ type: 'Normal', ...over });

    expect(await stage.bench.turn('web')).toMatchObject({ result: 'deleted' });
    expect(await stage.bench.self('web')).toBeUndefined();
    expect(await stage.bench.find(ClusterRole, role)).toBeUndefined();
  });

  it('is looked at again at once, so that it is forgotten', async () => {
    await stage.restartWith({ definition: { expires: true } });
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('web')] });
    await stage.bench.turn('web');
    stage.bench.rules = () => expire(over);
    expect(await stage.bench.turn('web')).toEqual({
      result: 'expired',
      steps: 0,
      statusWritten: false,
      requeueAfterMs: 0,
    });
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'absent' });
    expect(stage.bench.claims.size).toBe(0);
    // Garbage collection, which does not run here, has its owner reference to go by.
    expect((await stage.bench.find(ConfigMap, 'web'))?.metadata.ownerReferences).toHaveLength(1);
  });

  it('is never mistaken for a new one of the same name', async () => {
    await stage.restartWith({ definition: { expires: true } });
    const first = await stage.bench.create('web');
    stage.bench.rules = () => expire(over);
    const send = stage.bench.client.delete.bind(stage.bench.client);
    stage.bench.client.delete = async (...args) => {
      stage.bench.client.delete = send;
      await stage.admin.delete(Bundle as Kind, { namespace: stage.namespace, name: 'web' });
      await stage.admin.create(Bundle as Kind, {
        apiVersion: 'bench.keelson.io/v1',
        kind: 'Bundle',
        metadata: { name: 'web', namespace: stage.namespace },
        spec: {},
      });
      return send(...args) as never;
    };
    await expect(stage.bench.turn('web')).rejects.toMatchObject({ code: 'Conflict' });
    const self = await stage.bench.self('web');
    expect(self?.metadata.deletionTimestamp).toBeUndefined();
    expect(self?.metadata.uid).not.toBe(first.metadata.uid);
  });

  it('stays when the operator did not declare that it ends instances, because it lacks the permission too', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => expire(over);
    await expect(stage.bench.turn('web')).rejects.toThrow(/add expires: true/);
    expect(await stage.bench.self('web')).toBeDefined();
  });
});
