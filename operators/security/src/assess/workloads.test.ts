import type { Obstacle } from '@keelson/runtime';
import { defineKind, type KubeObject, type Pod, type ServiceAccount } from '@keelson/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ago,
  condition,
  container,
  containerIn,
  contextOf,
  failedCreate,
  falco,
  gateway,
  podOf,
} from './testing/recorded.ts';
import { crashLoop, pulling, short } from './testing/statuses.ts';
import { LONGEST_MESSAGE } from './text.ts';
import { assessWorkloads } from './workloads.ts';

describe('assessWorkloads', () => {
  const account: ServiceAccount = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'falco', namespace: 'security-system' },
  };
  const Policy = defineKind({
    group: 'example.io',
    version: 'v1',
    kind: 'Policy',
    plural: 'policies',
    scope: 'Cluster',
  });
  const policy = (status: object = {}): KubeObject => ({
    apiVersion: 'example.io/v1',
    kind: 'Policy',
    metadata: { name: 'guard' },
    status,
  });

  it('is not satisfied before everything exists, and names the workload first', () => {
    const nothing = assessWorkloads(contextOf('Falco', [account, falco()], []));
    expect(nothing).toMatchObject({ status: 'False', reason: 'DaemonSetNotFound' });
    expect(nothing.message).toBe('Falco: ServiceAccount falco and DaemonSet falco do not exist yet');
    const nearly = assessWorkloads(contextOf('Falco', [account, falco()], [falco()]));
    expect(nearly).toEqual({
      status: 'False',
      reason: 'NotApplied',
      message: 'Falco: ServiceAccount falco does not exist yet',
    });
  });

  describe('when something could not be applied', () => {
    const refused = 'could not apply DaemonSet security-system/falco: may not be created by this account; ask for it';
    const object = 'DaemonSet security-system/falco';
    const obstacle: Obstacle = { object, cause: 'failed', text: refused };
    const failure = (...obstacles: Obstacle[]) => ({
      failure: { reason: 'Forbidden', message: 'all of it', obstacles },
    });

    it('tells why what is missing is missing', () => {
      const { message } = assessWorkloads(contextOf('Falco', [falco()], [], failure(obstacle)));
      expect(message).toBe(`Falco: DaemonSet falco does not exist yet: ${refused}`);
    });

    it('is not satisfied with what runs, for it is not what is wanted', () => {
      expect(assessWorkloads(contextOf('Falco', [falco()], [falco()], failure(obstacle)))).toEqual({
        status: 'False',
        reason: 'Forbidden',
        message: `Falco running on 3/3 nodes; ${refused}`,
        ready: 3,
        desired: 3,
      });
    });

    it('tells that before anything else', () => {
      const live = [short(2), podOf(falco(), 'node-1', pulling('ErrImagePull'))];
      const { reason, message } = assessWorkloads(contextOf('Falco', [falco()], live, failure(obstacle)));
      expect(reason).toBe('Forbidden');
      expect(message).toMatch(/^Falco running on 2\/3 nodes; could not apply .*; on node-1: image /);
    });

    it('leaves other features alone, and takes from many only what is its own', () => {
      const others: Obstacle[] = [
        { object: `${object}-extra`, cause: 'failed', text: 'no' },
        { object: 'ConfigMap security-system/falco', cause: 'refused', text: 'not ours' },
      ];
      expect(assessWorkloads(contextOf('Falco', [falco()], [falco()], failure(...others))).status).toBe('True');
      const { message } = assessWorkloads(contextOf('Falco', [falco()], [falco()], failure(...others, obstacle)));
      expect(message).toBe(`Falco running on 3/3 nodes; ${refused}`);
    });

    it('does not say of what somebody else has that it does not exist', () => {
      const taken = ['ServiceAccount security-system/falco', object].map(
        (name): Obstacle => ({
          object: name,
          cause: 'refused',
          text: '',
          together: 'exist already and belong to another',
        }),
      );
      const owned = { failure: { reason: 'OwnedByAnother', message: '', obstacles: taken } };
      expect(assessWorkloads(contextOf('Falco', [account, falco()], [], owned))).toEqual({
        status: 'False',
        reason: 'OwnedByAnother',
        message: `Falco: ServiceAccount security-system/falco and ${object} exist already and belong to another`,
      });
    });
  });

  it.each([
    [{ nodeAgent: { nodeSelector: { gpu: 'true' } } }, 'spec.override.nodeAgent.nodeSelector'],
    [{ perTool: { falco: { nodeSelector: { gpu: 'true' } } } }, 'spec.override.perTool.falco.nodeSelector'],
    [
      { nodeAgent: { nodeSelector: { gpu: 'true' } }, perTool: { falco: { podTemplate: { spec: { affinity: {} } } } } },
      'spec.override.perTool.falco.podTemplate.spec.affinity and spec.override.nodeAgent.nodeSelector',
    ],
  ])('names the place that the selector came from: %o', (override, path) => {
    const nowhere = falco({ desiredNumberScheduled: 0, numberReady: 0 }, { nodeSelector: { gpu: 'true' } });
    const { message } = assessWorkloads(contextOf('Falco', [nowhere], [nowhere], { override }));
    expect(message).toMatch(new RegExp(` → label nodes, or change ${path.replaceAll('.', '\\.')}$`));
  });

  it('takes what is being deleted for gone', () => {
    const leaving = { ...falco(), metadata: { ...falco().metadata, deletionTimestamp: ago(1) } };
    expect(assessWorkloads(contextOf('Falco', [falco()], [leaving])).reason).toBe('DaemonSetNotFound');
  });

  it('judges objects of other kinds by their Ready condition, and a feature of policies by these alone', () => {
    const context = (live: KubeObject) => contextOf('Guard', [policy()], [live], { kinds: [Policy] });
    expect(assessWorkloads(context(policy()))).toEqual({
      status: 'True',
      reason: 'Ready',
      message: 'Guard applied, 1 object',
    });
    const refusing = policy({
      conditions: [{ type: 'Ready', status: 'False', reason: 'Bad', message: 'no such field' }],
    });
    expect(assessWorkloads(context(refusing))).toEqual({
      status: 'False',
      reason: 'NotReady',
      message: 'Guard applied, 1 object; Policy guard: Bad: no such field',
    });
    expect(assessWorkloads(contextOf('Guard', [policy()], [], { kinds: [Policy] })).reason).toBe('NotApplied');
  });

  it('looks at no pod of anybody else, and at none that is going', () => {
    const foreign = podOf(gateway(), 'node-1', pulling('ErrImagePull'));
    const elsewhere = podOf(falco(), 'node-1', pulling('ErrImagePull'));
    const going = podOf(falco(), 'node-2', pulling('ErrImagePull'));
    const around = [
      foreign,
      { ...elsewhere, metadata: { ...elsewhere.metadata, namespace: 'other' } },
      { ...going, metadata: { ...going.metadata, deletionTimestamp: ago(1) } },
    ];
    expect(assessWorkloads(contextOf('Falco', [short(1)], [short(1), ...around])).reason).toBe('Progressing');
  });

  it('names some of many nodes, in their order', () => {
    const nodes = Array.from({ length: 20 }, (_, index) => `node-${20 - index}`);
    const set = falco({ desiredNumberScheduled: 20, currentNumberScheduled: 20, numberReady: 0 });
    const pods = nodes.map((node) => podOf(set, node, pulling('ErrImagePull')));
    const { message } = assessWorkloads(contextOf('Falco', [set], [set, ...pods]));
    expect(message).toMatch(/^Falco running on 0\/20 nodes; on node-1, node-2, node-3 and 17 more: image/);
  });

  it('shows no value of an environment, whatever a tool says at its end', () => {
    const env = [
      // Part of the other: the longer one is meant.
      { name: 'STORE_USER', value: 'hunter2' },
      { name: 'STORE_PASSWORD', value: 'hunter2-hunter2' },
      { name: 'MODE', value: 'on' },
    ];
    const set = falco({ numberReady: 2 }, { containers: [container('falco', { env })] });
    const said = 'login with hunter2-hunter2 failed on https://me:pw@store:9200, Authorization: Bearer abcdef123456';
    const { message } = assessWorkloads(
      contextOf('Falco', [set], [set, podOf(set, 'node-1', crashLoop(1, { message: said }))]),
    );
    expect(message).toContain('login with $STORE_PASSWORD failed on https://…@store:9200, Authorization: Bearer …');
    expect(message).not.toMatch(/hunter2|pw@|abcdef/);
  });
});

describe('the words about any cluster', () => {
  const text = fc.string({ maxLength: 2000 });
  const reason = fc.constantFrom(
    'ErrImagePull',
    'ImagePullBackOff',
    'InvalidImageName',
    'CrashLoopBackOff',
    'CreateContainerConfigError',
    'CreateContainerError',
    'ContainerCreating',
    'Unheard',
  );
  const status = fc.oneof(
    fc.record({ reason, message: text }).map((waiting) => containerIn('falco', { waiting })),
    fc.tuple(fc.nat(255), text, fc.nat(9)).map(([code, message, restarts]) => crashLoop(code, { message }, restarts)),
    text.map((message) => ({ phase: 'Failed', reason: 'Evicted', message })),
    text.map((message) => ({
      phase: 'Pending',
      conditions: [condition('PodScheduled', 'False', 'Unschedulable', message)],
    })),
    fc.constant({ phase: 'Running' }),
  );
  const secret = 'a-secret-of-somebody';
  const set = (ready: number) =>
    falco(
      { numberReady: ready, currentNumberScheduled: 2 },
      { containers: [container('falco', { env: [{ name: 'KEY', value: secret }] })] },
    );

  it('are bounded, the same in any order, and tell no secret', () => {
    fc.assert(
      fc.property(fc.array(status, { maxLength: 6 }), text, fc.nat(2), fc.boolean(), (statuses, note, ready, leaks) => {
        const live = set(ready);
        const pods = statuses.map((one, index): Pod => {
          const leaking = crashLoop(1, { message: `${secret} is no good` });
          return podOf(live, `node-${index}`, leaks && index === 0 ? leaking : one);
        });
        const around: KubeObject[] = [...pods, failedCreate(live, note)];
        const assessment = assessWorkloads(contextOf('Falco', [live], [live, ...around]));
        expect(assessment.status).toBe('False');
        expect(assessment.reason).toMatch(/^[A-Z][A-Za-z]+$/);
        expect(assessment.message.length).toBeLessThanOrEqual(LONGEST_MESSAGE);
        expect(assessment.message).not.toMatch(/\n/);
        expect(assessment.message).not.toContain(secret);
        expect(assessWorkloads(contextOf('Falco', [live], [...around.toReversed(), live]))).toEqual(assessment);
      }),
      { numRuns: 300 },
    );
  });
});
