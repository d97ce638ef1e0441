import { isFault } from '@keelson/kube';
import { ConfigMap, type KubeObject, Namespace, Service } from '@keelson/schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apply } from '../decision.ts';
import { defineEffect } from '../effect.ts';
import { configMap, deployment, type Stage, startStage } from './testing/stage.ts';
import { Bundle } from './testing/workbench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
beforeEach(() => stage.begin());
afterEach(() => stage.end());
afterAll(() => stage?.stop());

const badDeployment = (name: string): KubeObject => ({ ...deployment(name, 1), spec: { replicas: 1 } });
const failed = () => stage.bench.turn('web').catch((error: unknown) => error);

const nodePort = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80, nodePort: 30_123 }] },
});

describe('a step that fails', () => {
  it('stops neither the other objects nor the prunes, the effects and the status, and every failed object is named', async () => {
    const ran: unknown[] = [];
    const effects = { note: defineEffect(async (input) => void ran.push(input)) };
    await stage.restartWith({ definition: { effects } });
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('old')] });
    await stage.bench.turn('web');

    stage.bench.rules = () =>
      apply({
        objects: [badDeployment('a'), badDeployment('b'), deployment('c', 1), configMap('not_a_name')],
        effects: [{ handler: 'note', key: 'note', input: 'ran' }],
        status: { text: 'told' },
      });
    expect(isFault(await failed(), 'Invalid')).toBe(true);

    expect(await stage.bench.find(ConfigMap, 'old')).toBeUndefined();
    expect(ran).toEqual(['ran']);
    expect((await stage.bench.self('web'))?.status).toMatchObject({ text: 'told' });
    const applied = await stage.condition('web', 'Applied');
    expect(applied).toMatchObject({ status: 'False', reason: 'Invalid' });
    for (const name of ['Deployment .*/a', 'Deployment .*/b', 'ConfigMap .*/not_a_name'])
      expect(applied?.message).toMatch(new RegExp(`could not create ${name}: `));
    expect(applied?.message).not.toContain('/c');
    expect(await stage.condition('web', 'Ready')).toMatchObject({ status: 'False', reason: 'Invalid' });
    expect(await stage.writesDuring(failed)).toEqual([]);
  });

  it('gets what a pruned object held, soon after', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [nodePort('old')] });
    await stage.bench.turn('web');
    stage.bench.rules = () => apply({ objects: [nodePort('new')] });

    const outcome = await stage.bench.attempt('web');
    expect(outcome).toMatchObject({ result: 'failed', fault: { code: 'Invalid' }, requeueAfterMs: expect.any(Number) });
    expect(outcome.requeueAfterMs).toBeLessThanOrEqual(1_000);
    expect(await stage.bench.turn('web')).toMatchObject({ result: 'applied' });
    expect(await stage.bench.find(Service, 'new')).toBeDefined();
  });

  it('is not followed by what stands on it', async () => {
    await stage.restartWith({ owns: [Namespace, { kind: ConfigMap, anywhere: true }] });
    await stage.bench.create('web');
    const inside = { ...configMap('inside'), metadata: { name: 'inside', namespace: 'not_a_namespace' } };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'not_a_namespace' } };
    stage.bench.rules = () => apply({ objects: [namespace, inside, configMap('apart')] });

    expect(isFault(await failed(), 'Invalid')).toBe(true);
    expect(await stage.bench.find(ConfigMap, 'apart')).toBeDefined();
    const { message = '' } = (await stage.condition('web', 'Applied')) ?? {};
    expect(message).toMatch(/could not create Namespace not_a_namespace: /);
    expect(message).toMatch(/ConfigMap not_a_namespace\/inside waits for Namespace not_a_namespace/);
    expect(await stage.writesDuring(failed)).toEqual([]);
    stage.bench.rules = () => apply({ objects: [] });
    await stage.bench.turn('web');
  });

  it('is named by name alone where there are too many to tell all', async () => {
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: Array.from({ length: 60 }, (_, i) => badDeployment(`d${i + 10}`)) });
    await failed();
    const { message = '' } = (await stage.condition('web', 'Applied')) ?? {};
    expect(message.length).toBeLessThan(5_000);
    expect(message).toContain('d10');
    expect(message).toMatch(/and \d+ more$/);
  });
});

describe('what an operator learns', () => {
  it('is told why its last decision could not be carried out, until it could or the spec is another', async () => {
    await stage.bench.create('web');
    const seen: unknown[] = [];
    let objects = [badDeployment('web')];
    stage.bench.rules = ({ failure }) => {
      seen.push(failure);
      return apply({ objects });
    };
    expect(await stage.bench.attempt('web')).toMatchObject({ result: 'failed', requeueAfterMs: 1_000 });
    expect((await stage.bench.attempt('web')).requeueAfterMs).toBeUndefined();
    objects = [];
    await stage.bench.turn('web');
    await stage.bench.turn('web');
    const said = expect.stringContaining('could not create Deployment');
    const object = `Deployment ${stage.namespace}/web`;
    const failure = { reason: 'Invalid', message: said, obstacles: [{ object, cause: 'failed', text: said }] };
    expect(seen).toEqual([undefined, failure, failure, undefined]);

    objects = [badDeployment('web')];
    await failed();
    await stage.patch(Bundle, 'web', { spec: { text: 'another' } });
    await stage.bench.seen(Bundle, 'web', (live) => live?.object.metadata.generation === 2);
    await failed();
    expect(seen.slice(4)).toEqual([undefined, undefined]);
  });

  it('finds in observe what it made before, so that what is made once stays', async () => {
    let made = 0;
    await stage.restartWith({
      definition: {
        observe: async ({ owned }) => {
          const before = owned.get(ConfigMap, 'key')?.data?.key;
          if (before !== undefined) return before;
          made += 1;
          return `key-${made}`;
        },
      },
    });
    await stage.bench.create('web');
    stage.bench.rules = ({ external }) => apply({ objects: [configMap('key', { key: String(external) })] });
    await stage.bench.turn('web');
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
    expect(made).toBe(1);
  });
});
