/**
 * The words are right about what real controllers write: DaemonSets and Deployments on simulated nodes, looked at through the very
 * watches of the operator, by a trial operator that makes what its instance lists and says how it does.
 */
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { apply, createManager, defineOperator, silentLogger } from '@keelson/runtime';
import {
  DaemonSet,
  Deployment,
  defineResource,
  Event,
  freeForm,
  type KubeObject,
  manifest,
  Pod,
  Type,
  toCrd,
} from '@keelson/schema';
import { simulateAnnotation, startTestEnv, type TestEnv } from '@keelson/testenv';
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FEATURE_LABEL } from '../names.ts';
import { eventFields, failedCreateScope, podFields } from './watched.ts';
import { assessWorkloads } from './workloads.ts';

const Trial = defineResource({
  group: 'trial.keelson.io',
  version: 'v1',
  kind: 'Trial',
  scope: 'Namespaced',
  description: 'Of the tests.',
  spec: Type.Object({ objects: Type.Array(freeForm<KubeObject>()) }),
  status: Type.Object({ ready: Type.String(), reason: Type.String(), message: Type.String(), counts: Type.String() }),
});

const trial = defineOperator({
  name: 'trial',
  resource: Trial,
  owns: [DaemonSet, Deployment],
  watches: [
    { kind: Pod, relate: () => [{ labels: {} }], scope: { labelSelector: FEATURE_LABEL }, fields: podFields },
    { kind: Event, relate: () => [{ labels: {} }], scope: failedCreateScope, fields: eventFields },
  ],
  reconcile({ self, owned, related, now }) {
    const wanted = self.spec.objects.map((object) => ({
      ...object,
      metadata: { ...object.metadata, namespace: self.metadata.namespace ?? '' },
    }));
    const { status, reason, message, ready, desired } = assessWorkloads({
      title: 'Falco',
      wanted,
      owned,
      related,
      now,
    });
    return apply({ objects: wanted, status: { ready: status, reason, message, counts: `${ready}/${desired}` } });
  },
});

let env: TestEnv;
let client: KubeClient;
const stop = new AbortController();
let done: Promise<void> | undefined;

beforeAll(async () => {
  env = await startTestEnv({
    level: 'cluster',
    nodes: [{ name: 'node-1' }, { name: 'node-2' }, { name: 'node-3', memory: '1Gi' }],
    crds: [toCrd(Trial)],
  });
  client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
  const manager = createManager({ client, operators: [trial], leaderElection: false, logger: silentLogger });
  done = manager.run(stop.signal);
});
afterAll(async () => {
  stop.abort();
  await done;
  await client?.close();
  await env?.stop();
});

interface Wish {
  readonly kind?: typeof DaemonSet | typeof Deployment;
  readonly replicas?: number;
  readonly pod?: Partial<PodSpec>;
  readonly container?: object;
  readonly simulate?: string;
}

function workload({ kind = DaemonSet, replicas, pod, container, simulate }: Wish): KubeObject {
  const labels = { [FEATURE_LABEL]: 'falco' };
  return {
    apiVersion: 'apps/v1',
    kind: kind.kind,
    metadata: { name: 'falco', labels },
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, ...(simulate === undefined ? {} : { annotations: { [simulateAnnotation]: simulate } }) },
        spec: { containers: [{ name: 'falco', image: 'example/falco:1', ...container }], ...pod },
      },
    },
  };
}

/** Makes a trial of this workload in a namespace of its own. */
async function given(wish: Wish, prepare: (namespace: string) => Promise<unknown> = async () => {}): Promise<string> {
  const namespace = await env.createNamespace();
  await prepare(namespace);
  await client.create(Trial, manifest(Trial, { name: 'trial', namespace }, { spec: { objects: [workload(wish)] } }));
  return namespace;
}

async function told(namespace: string, reason: string, message: string | RegExp, counts: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const status = (await client.find(Trial, { name: 'trial', namespace }))?.status;
      expect(status?.message).toMatch(message);
      if (typeof message === 'string') expect(status?.message).toBe(message);
      expect(status).toMatchObject({ ready: reason === 'Ready' ? 'True' : 'False', reason, counts });
    },
    { timeout: 60_000, interval: 100 },
  );
}

const label = (namespace: string, text: string) => env.kubectl(['label', 'namespace', namespace, text]);

describe('what is told of real workloads', () => {
  it('given a Deployment that does well, then it counts replicas', async () => {
    const namespace = await given({ kind: Deployment, replicas: 2 });
    await told(namespace, 'Ready', 'Falco running with 2/2 replicas', '2/2');
  });

  it('given an image that cannot be pulled, then node and image are named; and it is ready as soon as it can', async () => {
    const namespace = await given({ simulate: 'image-pull-error' });
    const message =
      'Falco running on 0/3 nodes; on node-1, node-2 and node-3: image example/falco:1 cannot be pulled: not found → ' +
      'check its name and tag';
    await told(namespace, 'ImagePullFailed', message, '0/3');
    const version = async () => (await client.find(Trial, { name: 'trial', namespace }))?.metadata.resourceVersion;
    const before = await version();
    const backOff = '--for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff';
    await env.kubectl(['wait', 'pods', '-n', namespace, '--all', backOff, '--timeout=60s']);
    // The same trouble in other words of the kubelet's is nothing to write.
    expect(await version()).toBe(before);
    await env.kubectl(['annotate', 'pods', '-n', namespace, '--all', `${simulateAnnotation}-`]);
    await told(namespace, 'Ready', 'Falco running on 3/3 nodes', '3/3');
  });

  it('given a Deployment that crashes, then the pod, its node and how to see more are named', async () => {
    const namespace = await given({ kind: Deployment, replicas: 1, simulate: 'crash-loop' });
    const message =
      /^Falco running with 0\/1 replicas; pod falco-\S+ on node-\d: container falco crashes \(exit code 1, 3 restarts\) → see kubectl logs -n \S+ falco-\S+ -c falco --previous$/;
    await told(namespace, 'CrashLoop', message, '0/1');
  });

  it('given too little memory, then the limit is named, and where to raise it', async () => {
    const container = { resources: { limits: { memory: '64Mi' } } };
    const namespace = await given({ simulate: 'out-of-memory', container });
    const message =
      'Falco running on 0/3 nodes; on node-1, node-2 and node-3: container falco runs out of memory (OOMKilled, limit 64Mi, 3 restarts) → ' +
      'raise the limit by spec.override.perTool.falco.resources';
    await told(namespace, 'OutOfMemory', message, '0/3');
  });

  it('given a namespace that allows no privileges, then Pod Security is named with all it has against the pods', async () => {
    const pod = { hostPID: true, volumes: [{ name: 'proc', hostPath: { path: '/proc' } }] };
    const container = { securityContext: { privileged: true } };
    const namespace = await given({ pod, container }, (name) =>
      label(name, 'pod-security.kubernetes.io/enforce=baseline'),
    );
    const message =
      `Falco running on 0/3 nodes; forbidden by Pod Security level 'baseline' of namespace ${namespace}: hostPID, hostPath volumes ` +
      `and privileged → kubectl label --overwrite namespace ${namespace} pod-security.kubernetes.io/enforce=privileged`;
    await told(namespace, 'PodSecurityForbidden', message, '0/3');
  });

  it('given the same as a Deployment, then its condition is told in the same words', async () => {
    const container = { securityContext: { privileged: true } };
    const wish = { kind: Deployment, replicas: 2, container };
    const namespace = await given(wish, (name) => label(name, 'pod-security.kubernetes.io/enforce=restricted'));
    const message =
      `Falco running with 0/2 replicas; forbidden by Pod Security level 'restricted' of namespace ${namespace}: privileged, ` +
      'allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true and seccompProfile → ' +
      `kubectl label --overwrite namespace ${namespace} pod-security.kubernetes.io/enforce=privileged`;
    await told(namespace, 'PodSecurityForbidden', message, '0/2');
  });

  it('given a quota that is too small, then it is named', async () => {
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'small' },
      spec: { hard: { pods: '1' } },
    };
    const namespace = await given({}, async (name) => {
      await env.adminRequest('POST', `/api/v1/namespaces/${name}/resourcequotas`, quota);
      await env.kubectl(['wait', '-n', name, 'resourcequota/small', '--for=jsonpath={.status.hard.pods}=1']);
    });
    const message =
      `Falco running on 1/3 nodes; forbidden by ResourceQuota small of namespace ${namespace}: requested: pods=1, used: pods=1, ` +
      'limited: pods=1 → raise the quota';
    await told(namespace, 'QuotaExceeded', message, '1/3');
  });

  it('given a selector that no node fits, then it is named', async () => {
    const namespace = await given({ pod: { nodeSelector: { gpu: 'true' } } });
    const message =
      /^Falco running on 0\/0 nodes; no node takes it: none matches nodeSelector gpu=true, or .* → label nodes/;
    await told(namespace, 'NoMatchingNode', message, '0/0');
  });

  it('given a node that is too small, then it is named with what it lacks', async () => {
    const namespace = await given({ container: { resources: { requests: { memory: '2Gi' } } } });
    const message =
      'Falco running on 2/3 nodes; on node-3: no room: 1 Insufficient memory → free the node, or ask for less by ' +
      'spec.override.perTool.falco.resources';
    await told(namespace, 'Unschedulable', message, '2/3');
  });

  it('given a DaemonSet that does well, then it runs on all nodes, those that join and leave included', async () => {
    const namespace = await given({});
    await told(namespace, 'Ready', 'Falco running on 3/3 nodes', '3/3');
    await env.addNode({ name: 'node-4' });
    await told(namespace, 'Ready', 'Falco running on 4/4 nodes', '4/4');
    await env.removeNode('node-4');
    await told(namespace, 'Ready', 'Falco running on 3/3 nodes', '3/3');
  });
});
