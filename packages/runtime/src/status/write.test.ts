import { ConfigMap, type Kind } from '@keelson/schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apply, reject, wait } from '../decision.ts';
import { defineLifecycle } from '../lifecycle.ts';
import { clusterRole, configMap, type Stage, startStage } from '../reconciler/testing/stage.ts';
import { Bundle } from '../reconciler/testing/workbench.ts';
import { conditionsOf } from './next.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
beforeEach(() => stage.begin());
afterEach(() => stage.end());
afterAll(() => stage?.stop());

describe('the status', () => {
  it('moves lastTransitionTime only when the status of a condition flips', async () => {
    await stage.bench.create('web');
    const ready = (status: 'True' | 'False', message: string) => () =>
      apply<Bundle>({ objects: [], status: { conditions: [{ type: 'Ready', status, reason: 'Test', message }] } });
    stage.bench.rules = ready('False', 'one');
    await stage.bench.turn('web');
    const first = await stage.condition('web', 'Ready');
    stage.bench.ahead(60_000);
    stage.bench.rules = ready('False', 'two');
    await stage.bench.turn('web');
    expect(await stage.condition('web', 'Ready')).toMatchObject({
      message: 'two',
      lastTransitionTime: first?.lastTransitionTime,
    });
    stage.bench.rules = ready('True', 'two');
    await stage.bench.turn('web');
    expect((await stage.condition('web', 'Ready'))?.lastTransitionTime).not.toBe(first?.lastTransitionTime);
  });

  it('replaces what it said before, and leaves what others say alone', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () =>
      apply({
        objects: [],
        status: { phase: 'A', text: 'x', conditions: [{ type: 'Mine', status: 'True', reason: 'R', message: '' }] },
      });
    await stage.bench.turn('web');
    const theirs = {
      type: 'Theirs',
      status: 'True',
      reason: 'R',
      message: 'm',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    await stage.admin.apply(
      Bundle as Kind,
      {
        apiVersion: 'bench.keelson.io/v1',
        kind: 'Bundle',
        metadata: { name: 'web', namespace: stage.namespace },
        status: { conditions: [theirs] },
      },
      { fieldManager: 'somebody', subresource: 'status' },
    );
    await stage.bench.seen(Bundle, 'web', (live) => conditionsOf(live?.object.status).length === 5);

    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
    stage.bench.rules = () => apply({ objects: [], status: { phase: 'B' } });
    await stage.bench.turn('web');
    const status = (await stage.bench.self('web'))?.status as { phase?: string; text?: string };
    expect([status.phase, status.text]).toEqual(['B', undefined]);
    expect(
      conditionsOf(status)
        .map(({ type }) => type)
        .sort(),
    ).toEqual(['Accepted', 'Applied', 'Ready', 'Theirs']);
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
  });

  it('lets a map that was full become empty', async () => {
    await stage.bench.create('web');
    const saying = (current: { state?: string }) => () =>
      apply<Bundle>({ objects: [], status: { phase: 'A', current } });
    stage.bench.rules = saying({ state: 'busy' });
    await stage.bench.turn('web');
    stage.bench.rules = saying({});
    await stage.bench.turn('web');
    expect((await stage.bench.self('web'))?.status).not.toHaveProperty('current');
  });

  it('does not let a status field that the schema does not have cause a write each turn', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [], status: { phase: 'A', unknown: 1 } as never });
    await stage.bench.turn('web');
    expect((await stage.bench.self('web'))?.status).toMatchObject({ phase: 'A' });
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
  });

  it('calls a status that the schema does not allow a bug, and names the field', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [], status: { phase: 7 } as never });
    await expect(stage.bench.turn('web')).rejects.toThrow('status.phase: must be a string, got 7');
  });

  it('speaks of the generation it decided on, also when the spec changed meanwhile', async () => {
    await stage.bench.create('web', { text: 'first' });
    stage.bench.rules = ({ self }) =>
      apply({ objects: [clusterRole(`role-${stage.namespace}`)], status: { text: self.spec.text ?? '' } });
    const send = stage.bench.client.patch.bind(stage.bench.client);
    stage.bench.client.patch = async (...args) => {
      stage.bench.client.patch = send;
      await stage.patch(Bundle, 'web', { spec: { text: 'second' } });
      return send(...args) as never;
    };
    await stage.bench.turn('web');
    expect(await stage.bench.self('web')).toMatchObject({
      metadata: { generation: 2 },
      status: { observedGeneration: 1, text: 'first' },
    });
    await stage.bench.turn('web');
    expect(await stage.bench.self('web')).toMatchObject({ status: { observedGeneration: 2, text: 'second' } });
  });

  it('keeps what it said while it waits, and touches nothing', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('web')], status: { phase: 'Up' } });
    await stage.bench.turn('web');
    stage.bench.rules = () => wait({ reason: 'NoDatabase', message: 'waiting for db', recheckAfter: '30s' });
    expect(await stage.bench.turn('web')).toEqual({
      result: 'waiting',
      steps: 0,
      statusWritten: true,
      requeueAfterMs: 30_000,
    });
    expect((await stage.bench.self('web'))?.status).toMatchObject({ phase: 'Up' });
    expect(await stage.condition('web', 'Ready')).toMatchObject({
      status: 'False',
      reason: 'NoDatabase',
      message: 'waiting for db',
    });
    expect(await stage.condition('web', 'Applied')).toMatchObject({ status: 'True' });
    expect(await stage.bench.find(ConfigMap, 'web')).toBeDefined();
  });

  it('says that a spec is rejected, once', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => reject({ reason: 'BadText', message: 'text and replicas exclude each other' });
    expect(await stage.bench.turn('web')).toEqual({ result: 'rejected', steps: 0, statusWritten: true });
    expect(await stage.condition('web', 'Accepted')).toMatchObject({ status: 'False', reason: 'BadText' });
    expect(await stage.condition('web', 'Ready')).toMatchObject({ status: 'False', reason: 'BadText' });
    expect(stage.bench.events).toMatchObject([{ type: 'Warning', reason: 'BadText' }]);
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
  });

  it('makes each step of a life cycle an event, and does not write an illegal one', async () => {
    const lifecycle = defineLifecycle({
      field: 'phase',
      initial: 'New',
      states: ['New', 'Up', 'Done'],
      transitions: { New: ['Up'], Up: ['Done'] },
    });
    const moves: unknown[] = [];
    await stage.restartWith({ definition: { lifecycle }, hooks: { transition: (move) => moves.push(move) } });
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [], status: { phase: 'Up' } });
    await stage.bench.turn('web');
    expect(moves).toEqual([{ from: undefined, to: 'Up' }]);
    expect(stage.bench.events).toMatchObject([{ reason: 'Up', message: 'new → Up' }]);
    stage.bench.rules = () => apply({ objects: [], status: { phase: 'New' } });
    await expect(stage.bench.turn('web')).rejects.toThrow("status.phase may not go from 'Up' to 'New'");
    expect((await stage.bench.self('web'))?.status).toMatchObject({ phase: 'Up' });
    expect(await stage.condition('web', 'Applied')).toMatchObject({ status: 'False', reason: 'OperatorBug' });
  });

  it('keeps a life cycle also in a field within a field', async () => {
    const lifecycle = defineLifecycle({
      field: 'current.state',
      initial: 'None',
      states: ['None', 'Running', 'Deleted'],
      transitions: { None: ['Running'], Running: ['Deleted'] },
    });
    const moves: unknown[] = [];
    await stage.restartWith({ definition: { lifecycle }, hooks: { transition: (move) => moves.push(move) } });
    await stage.bench.create('web');
    for (const state of ['None', 'Running']) {
      stage.bench.rules = () => apply({ objects: [], status: { current: { state } } });
      await stage.bench.turn('web');
    }
    expect(moves).toEqual([
      { from: undefined, to: 'None' },
      { from: 'None', to: 'Running' },
    ]);
    stage.bench.rules = () => apply({ objects: [], status: { current: { state: 'None' } } });
    await expect(stage.bench.turn('web')).rejects.toThrow("status.current.state may not go from 'Running' to 'None'");
  });
});
