/** Overridden workloads, given to a real API server: whatever is overridden, the server takes the result. */
import type { KubeObject } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyOverrides } from './override.ts';
import type { ToolOverride } from './schema.ts';
import { podPatches } from './testing/patches.ts';
import { barePod, fullPod, kinds, type WorkloadKind, workload } from './testing/workloads.ts';

const plurals: Readonly<Record<WorkloadKind, string>> = {
  DaemonSet: 'apis/apps/v1/namespaces/NS/daemonsets',
  Deployment: 'apis/apps/v1/namespaces/NS/deployments',
  StatefulSet: 'apis/apps/v1/namespaces/NS/statefulsets',
  CronJob: 'apis/batch/v1/namespaces/NS/cronjobs',
};

let env: TestEnv;
let namespace: string;

beforeAll(async () => {
  env = await startTestEnv();
  namespace = await env.createNamespace();
});
afterAll(() => env.stop());

/** Server-side apply: what the operator does, and strict about fields; a dry run unless told otherwise. */
async function apply(object: KubeObject, dryRun = '&dryRun=All'): Promise<unknown> {
  const path = `/${plurals[object.kind as WorkloadKind].replace('NS', namespace)}/${object.metadata.name}`;
  return env.adminRequest('PATCH', `${path}?fieldManager=test&force=true&fieldValidation=Strict${dryRun}`, object, {
    contentType: 'application/apply-patch+yaml',
  });
}

function overridden(
  object: KubeObject,
  override: ToolOverride,
): { readonly object: KubeObject; readonly problems: number } {
  const { contributions, unmatched } = applyOverrides(
    { perTool: { falco: override } },
    [{ feature: 'falco', objects: [object] }],
    ['falco'],
  );
  return { object: contributions[0]?.objects[0] ?? expect.fail('it is gone'), problems: unmatched.length };
}

const everything: ToolOverride = {
  image: 'registry.example.com/falco:2',
  resources: { requests: { cpu: '100m' }, limits: { cpu: '1', memory: '1Gi' } },
  env: [{ name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'a', key: 'b' } } }],
  args: ['--more'],
  securityContext: { seccompProfile: { type: 'RuntimeDefault' }, capabilities: { add: ['KILL'] } },
  tolerations: [{ operator: 'Exists' }, { key: 'gpu', value: 'b', effect: 'NoExecute', tolerationSeconds: 5 }],
  nodeSelector: { 'example.com/gpu': 'true' },
  affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  priorityClassName: 'high',
  labels: { team: 'security' },
  annotations: { 'example.com/owner': 'A team, with spaces' },
  volumes: [
    { name: 'proc', emptyDir: {} },
    { name: 'extra', secret: { secretName: 'extra' } },
  ],
  volumeMounts: [
    { name: 'extra', mountPath: '/extra', readOnly: true },
    { name: 'patched', mountPath: '/patched' },
  ],
  podTemplate: { spec: { volumes: [{ name: 'patched', emptyDir: {} }], hostIPC: true } },
};

describe.each(kinds)('%s', (kind) => {
  test.each([
    ['bare', barePod],
    ['full', fullPod],
  ])('with everything overridden, %s', async (_title, pod) => {
    const strategy = kind === 'CronJob' ? {} : { updateStrategy: { type: 'RollingUpdate' } };
    const { object, problems } = overridden(workload(kind, pod), { ...everything, ...strategy });
    expect(problems).toBe(0);
    await expect(apply(object)).resolves.toMatchObject({ kind });
  });

  test('with random patches, which are merged or said to be wrong', async () => {
    let merged = 0;
    await fc.assert(
      fc.asyncProperty(podPatches, async (podTemplate) => {
        const { object, problems } = overridden(workload(kind, fullPod), { podTemplate: { ...podTemplate } });
        if (problems === 0) merged += 1;
        await apply(object);
      }),
      { numRuns: 150 },
    );
    expect(merged).toBeGreaterThan(30);
  });
});

test('a Deployment that says how it rolls its pods can be told to recreate them', async () => {
  // Given one that is applied. Had the server chosen the strategy, it would hold on to its fields and refuse the change.
  const rolling = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  const before = workload('Deployment');
  const object = { ...before, spec: { ...(before.spec as object), strategy: rolling } };
  await apply(object, '');
  // When the strategy is overridden, then the server takes it.
  const after = overridden(object, { updateStrategy: { type: 'Recreate' } });
  expect(after.problems).toBe(0);
  await expect(apply(after.object)).resolves.toMatchObject({ spec: { strategy: { type: 'Recreate' } } });
});
