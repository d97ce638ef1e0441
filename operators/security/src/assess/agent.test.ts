/** The same through the whole operator, under its own account: what a user reads in the status of an agent in trouble. */
import { manifest, PersistentVolume, PersistentVolumeClaim } from '@keelson/schema';
import { simulateAnnotation } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentOf } from '../testing/agent.ts';
import { OPERATOR_USER, type Stage, startStage } from '../testing/stage.ts';

describe('an agent in trouble', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await startStage({ level: 'cluster', nodes: 2 });
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  it('given a namespace that forbids what Falco needs, then it says so, and the others go on', async () => {
    const namespace = await stage.env.createNamespace();
    await stage.env.kubectl(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=baseline']);
    const ref = { name: 'main', namespace };
    await stage.setAgent({ ...agentOf(['falco', 'trivy']), metadata: ref });
    await stage.untilCondition(ref, 'FalcoReady', {
      status: 'False',
      reason: 'PodSecurityForbidden',
      message:
        /^Falco running on 0\/2 nodes; forbidden by Pod Security level 'baseline' of namespace \S+: .*privileged/,
    });
    const ready = await stage.untilCondition(ref, 'Ready', {
      status: 'False',
      reason: 'FeaturesNotReady',
      message: /falco \(PodSecurityForbidden\): Falco running on 0\/2 nodes;/,
    });
    // trivy-operator is not installed here: a feature that is held is told of beside one that is in trouble.
    expect(ready.message).toContain('trivy (KindMissing): ');
    expect((await stage.agent('main', namespace)).status).toMatchObject({
      features: { falco: 'False', trivy: 'False' },
      tools: { falco: { ready: 0, desired: 2 } },
    });
    await stage.env.kubectl(['delete', 'securityagent', 'main', '-n', namespace]);
  });

  it('given tools that crash, then their pods are found, and all is well when they no longer do', async () => {
    const namespace = await stage.env.createNamespace();
    const ref = { name: 'main', namespace };
    const trouble = { global: { annotations: { [simulateAnnotation]: 'crash-loop' } } };
    await stage.setAgent({ ...agentOf(['falco'], trouble), metadata: ref });
    await stage.untilCondition(ref, 'FalcoReady', {
      status: 'False',
      reason: 'CrashLoop',
      message: /^Falco running on 0\/2 nodes; on node-1.*container falco crashes \(exit code 1, 3 restarts\)/,
    });
    await stage.untilCondition(ref, 'OtelPipelineReady', {
      status: 'False',
      reason: 'CrashLoop',
      message: / running on 0\/2 nodes and with 0\/\d replicas; otel-/,
    });
    await stage.setAgent({ ...agentOf(['falco']), metadata: ref });
    await stage.untilCondition(ref, 'Ready', { status: 'True', reason: 'ReconcileSuccess' });
    await stage.untilCondition(ref, 'FalcoReady', { status: 'True', message: 'Falco running on 2/2 nodes' });
    await stage.env.kubectl(['delete', 'securityagent', 'main', '-n', namespace]);
  });

  it('given queues on volumes, then gateways wait for those, and run when they are there', async () => {
    const namespace = await stage.env.createNamespace();
    const ref = { name: 'main', namespace };
    const queue = { persistent: true, size: '3Gi', storageClassName: namespace };
    await stage.setAgent({ ...agentOf([{ name: 'otel_pipeline', config: { queue } }, 'osquery']), metadata: ref });
    // Its pods come one after the other.
    await stage.untilCondition(ref, 'OtelPipelineReady', {
      status: 'False',
      reason: 'Unschedulable',
      message: /with 0\/2 replicas; otel-gateway: pod otel-gateway-0 and pod otel-gateway-1: its volume is not/,
    });
    const volumes = [0, 1].map((i) =>
      manifest(
        PersistentVolume,
        { name: `${namespace}-${i}` },
        {
          spec: {
            capacity: { storage: '3Gi' },
            accessModes: ['ReadWriteOnce'],
            storageClassName: namespace,
            hostPath: { path: `/tmp/${namespace}-${i}` },
          },
        },
      ),
    );
    await stage.apply(...volumes);
    await stage.untilCondition(ref, 'OtelPipelineReady', { status: 'True' });
    const { items } = await stage.admin.list(PersistentVolumeClaim, { namespace });
    expect(items.map(({ metadata }) => metadata.name).sort()).toEqual([
      'storage-otel-gateway-0',
      'storage-otel-gateway-1',
    ]);
    // The server fills in a claim template as it likes, and that is no reason to write it again.
    await stage.untilAtRest();
    const since = await stage.env.audit.mark();
    await stage.env.kubectl(['annotate', 'securityagent', 'main', '-n', namespace, 'touched=yes']);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await stage.env.audit.writesBy(OPERATOR_USER, { since, resource: 'statefulsets' })).toEqual([]);
  });
});
