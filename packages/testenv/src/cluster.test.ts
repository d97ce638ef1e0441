import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { simulateAnnotation, startTestEnv, type TestEnv } from './index.ts';

interface Workload {
  status?: { numberReady?: number; readyReplicas?: number; succeeded?: number; replicas?: number };
}

interface PodList {
  items: {
    metadata: { name: string };
    spec: { nodeName?: string };
    status: {
      phase: string;
      podIP?: string;
      conditions?: { type: string; status: string; reason?: string; message?: string }[];
      containerStatuses?: {
        restartCount: number;
        state: { waiting?: { reason: string; message?: string } };
        lastState: { terminated?: { exitCode: number; reason: string } };
      }[];
    };
  }[];
}

const workload = (kind: string, name: string, spec: object, annotations = {}) => ({
  apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
  kind,
  metadata: { name },
  spec: {
    ...(kind !== 'Job' && { selector: { matchLabels: { app: name } } }),
    template: {
      metadata: { labels: { app: name }, annotations },
      spec: { containers: [{ name: 'main', image: 'example' }], ...(kind === 'Job' && { restartPolicy: 'Never' }) },
    },
    ...spec,
  },
});

describe('an environment of level cluster', () => {
  let env: TestEnv;
  beforeAll(async () => {
    env = await startTestEnv({
      level: 'cluster',
      nodes: [
        { name: 'small', cpu: '1', labels: { size: 'small' } },
        { name: 'large', cpu: '64', memory: '256Gi' },
        { name: 'special', taints: [{ key: 'special', effect: 'NoSchedule' }] },
      ],
    });
  });
  afterAll(() => env.stop());

  const get = <T>(path: string) => env.adminRequest<T>('GET', path);
  const pods = (app: string) => get<PodList>(`/api/v1/namespaces/default/pods?labelSelector=app%3D${app}`);

  test('has the nodes that were asked for, ready, with their capacity', async () => {
    const nodes = await env.kubectl([
      'get',
      'nodes',
      '-o',
      'jsonpath={range .items[*]}{.metadata.name} {.status.capacity.cpu} {.status.conditions[?(@.type=="Ready")].status};{end}',
    ]);
    expect(nodes.split(';').sort()).toEqual(['', 'large 64 True', 'small 1 True', 'special 8 True']);
  });

  test('a DaemonSet gets a ready pod on every node that tolerates it', async () => {
    await env.adminRequest('POST', '/apis/apps/v1/namespaces/default/daemonsets', workload('DaemonSet', 'agent', {}));
    await vi.waitFor(async () => {
      const set = await get<Workload>('/apis/apps/v1/namespaces/default/daemonsets/agent');
      expect(set.status?.numberReady).toBe(2);
    }, 20_000);
    const placed = (await pods('agent')).items;
    expect(placed.map((pod) => pod.spec.nodeName).sort()).toEqual(['large', 'small']);
    expect(new Set(placed.map((pod) => pod.status.podIP)).size).toBe(2);
  });

  test('a Job completes, and a deleted Deployment takes its pods with it', async () => {
    await env.adminRequest('POST', '/apis/batch/v1/namespaces/default/jobs', workload('Job', 'once', {}));
    await env.adminRequest(
      'POST',
      '/apis/apps/v1/namespaces/default/deployments',
      workload('Deployment', 'web', { replicas: 2 }),
    );
    await vi.waitFor(async () => {
      expect((await get<Workload>('/apis/batch/v1/namespaces/default/jobs/once')).status?.succeeded).toBe(1);
      expect((await get<Workload>('/apis/apps/v1/namespaces/default/deployments/web')).status?.readyReplicas).toBe(2);
    }, 20_000);
    await env.adminRequest('DELETE', '/apis/apps/v1/namespaces/default/deployments/web');
    await vi.waitFor(async () => expect((await pods('web')).items).toEqual([]), 20_000);
  });

  test.each([
    ['unready', 'Running', undefined],
    ['image-pull-error', 'Pending', 'ImagePullBackOff'],
    ['crash-loop', 'Running', 'CrashLoopBackOff'],
    ['out-of-memory', 'Running', 'CrashLoopBackOff'],
  ])('a pod that asks for "%s" gets it, and recovers when it no longer asks', async (trouble, phase, reason) => {
    const deployment = workload('Deployment', trouble, { replicas: 1 }, { [simulateAnnotation]: trouble });
    await env.adminRequest('POST', '/apis/apps/v1/namespaces/default/deployments', deployment);
    const pod = await vi.waitFor(async () => {
      const [found] = (await pods(trouble)).items;
      expect(found?.status.phase).toBe(phase);
      expect(found?.status.containerStatuses?.[0]?.state.waiting?.reason).toBe(reason);
      return found;
    }, 20_000);
    const path = `/apis/apps/v1/namespaces/default/deployments/${trouble}`;
    expect((await get<Workload>(path)).status?.readyReplicas ?? 0).toBe(0);
    await env.adminRequest('PATCH', `/api/v1/namespaces/default/pods/${pod?.metadata.name}`, {
      metadata: { annotations: { [simulateAnnotation]: null } },
    });
    await vi.waitFor(async () => expect((await get<Workload>(path)).status?.readyReplicas).toBe(1), 20_000);
  });

  test.each([
    ['unready', undefined, undefined],
    [
      'image-pull-error',
      'Back-off pulling image "example": ErrImagePull: failed to pull and unpack image "example": ' +
        'failed to resolve reference "example": not found',
      undefined,
    ],
    [
      'crash-loop',
      /^back-off 40s restarting failed container=main pod=sick-crash-loop-.*_default\(.*-.*\)$/,
      [1, 'Error'],
    ],
    ['out-of-memory', /^back-off 40s restarting/, [137, 'OOMKilled']],
  ] as const)('a ready pod that falls into "%s" tells it as a kubelet does', async (trouble, message, ended) => {
    const name = `sick-${trouble}`;
    await env.adminRequest(
      'POST',
      '/apis/apps/v1/namespaces/default/deployments',
      workload('Deployment', name, { replicas: 1 }),
    );
    const path = `/apis/apps/v1/namespaces/default/deployments/${name}`;
    await vi.waitFor(async () => expect((await get<Workload>(path)).status?.readyReplicas).toBe(1), 20_000);
    const [pod] = (await pods(name)).items;
    await env.adminRequest('PATCH', `/api/v1/namespaces/default/pods/${pod?.metadata.name}`, {
      metadata: { annotations: { [simulateAnnotation]: trouble } },
    });
    await vi.waitFor(async () => {
      const [{ status } = expect.fail('the pod is gone')] = (await pods(name)).items;
      expect(status.conditions).toContainEqual(
        expect.objectContaining({
          type: 'Ready',
          status: 'False',
          reason: 'ContainersNotReady',
          message: 'containers with unready status: [main]',
        }),
      );
      const [container] = status.containerStatuses ?? [];
      if (message === undefined) expect(container?.state.waiting).toBeUndefined();
      else expect(container?.state.waiting?.message).toMatch(message);
      const { exitCode, reason } = container?.lastState.terminated ?? {};
      expect([exitCode, reason, container?.restartCount]).toEqual(ended ? [...ended, 3] : [undefined, undefined, 0]);
    }, 20_000);
    await env.adminRequest('DELETE', path);
  });

  test('a node that joins gets its pod of a DaemonSet, and one that leaves takes it along', async () => {
    await env.adminRequest('POST', '/apis/apps/v1/namespaces/default/daemonsets', workload('DaemonSet', 'guard', {}));
    const guarded = async () => (await pods('guard')).items.map((pod) => pod.spec.nodeName).sort();
    const ready = async (count: number) => {
      const set = await get<Workload>('/apis/apps/v1/namespaces/default/daemonsets/guard');
      expect(set.status?.numberReady).toBe(count);
    };
    await vi.waitFor(() => ready(2), 20_000);
    await env.addNode({ name: 'newcomer', labels: { size: 'small' } });
    await vi.waitFor(() => ready(3), 20_000);
    expect(await guarded()).toEqual(['large', 'newcomer', 'small']);
    const addresses = await env.kubectl(['get', 'nodes', '-o', 'jsonpath={.items[*].status.addresses[0].address}']);
    expect(new Set(addresses.split(' ')).size).toBe(4);
    await env.removeNode('newcomer');
    await vi.waitFor(() => ready(2), 20_000);
    expect(await guarded()).toEqual(['large', 'small']);
  });

  test('every part can be killed and started again, and the cluster goes on', async () => {
    const { controllerManager, scheduler, kwok } = env.parts;
    await Promise.all([controllerManager.kill(), scheduler.kill(), kwok.kill()]);
    await env.adminRequest(
      'POST',
      '/apis/apps/v1/namespaces/default/deployments',
      workload('Deployment', 'late', { replicas: 1 }),
    );
    expect((await pods('late')).items).toEqual([]);
    await Promise.all([controllerManager.start(), scheduler.start(), kwok.start()]);
    await vi.waitFor(async () => {
      expect((await get<Workload>('/apis/apps/v1/namespaces/default/deployments/late')).status?.readyReplicas).toBe(1);
    }, 30_000);
  });
});
