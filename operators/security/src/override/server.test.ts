/** Overridden workloads, given to a real API server: whatever is overridden, the server takes the result. */
import type { KubeObject } from '@keelson/schema';
import { isApiError, startTestEnv, type TestEnv } from '@keelson/testenv';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mapTemplate } from '../workload/template.ts';
import { applyOverrides } from './override.ts';
import type { ToolOverride } from './schema.ts';
import { podPatches } from './testing/patches.ts';
import { barePod, fullPod, kinds, type WorkloadKind, workload } from './testing/workloads.ts';
import { flawsOf } from './validity.ts';

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

describe('what we refuse beforehand is what the server refuses', () => {
  const mostly = (right: readonly string[], wrong: readonly string[]) =>
    fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...right) }, fc.constantFrom(...wrong));
  const long = 'a'.repeat(64);
  const key = mostly(['a', 'A.b_c', 'example.com/a'], ['', 'a b', '-a', 'Example.com/a', 'a/b/c', long]);
  const value = mostly(['', 'a', 'A-b.c_1'], ['a b', '.a', long]);
  const toleration = fc.record(
    {
      key,
      operator: fc.constantFrom('Exists', 'Equal'),
      value,
      effect: fc.constantFrom('NoSchedule', 'NoExecute'),
      tolerationSeconds: fc.nat(9),
    },
    { requiredKeys: [] },
  );
  const amounts = fc.dictionary(
    fc.constantFrom('cpu', 'memory', 'mem'),
    fc.constantFrom('100m', '0.1', '1', '999m', '1Ki', '1k', '1e3', '1024', '0.5Gi', '512Mi', '1E', '1Ei'),
    { maxKeys: 2 },
  );
  const entry = fc.tuple(key, value).map((pair) => Object.fromEntries([pair]));

  test.each<[string, fc.Arbitrary<KubeObject>]>([
    ['tolerations', toleration.map((one) => workload('DaemonSet', { ...barePod, tolerations: [one] }))],
    ['nodeSelector', entry.map((nodeSelector) => workload('DaemonSet', { ...barePod, nodeSelector }))],
    ['labels', entry.map((labels) => labelled({ labels: { app: 'falco', ...labels } }))],
    ['annotations', entry.map((annotations) => labelled({ labels: { app: 'falco' }, annotations }))],
    [
      'resources',
      fc
        .record({ requests: amounts, limits: amounts })
        .map((resources) => workload('DaemonSet', { containers: [{ name: 'falco', image: 'falco:1', resources }] })),
    ],
  ])('%s', async (_title, objects) => {
    const seen = { taken: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(objects, async (object) => {
        const flaws = flawsOf({ object, main: 'falco' });
        const taken = await apply(object).then(
          () => true,
          (error: unknown) => (isApiError(error) ? false : Promise.reject(error)),
        );
        expect({ flaws, taken }).toEqual({ flaws: taken ? [] : expect.arrayContaining([expect.any(String)]), taken });
        seen[taken ? 'taken' : 'refused'] += 1;
      }),
      { numRuns: 100 },
    );
    expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(0);
  });

  function labelled(metadata: object): KubeObject {
    const object = workload('DaemonSet');
    return mapTemplate(object, (template) => ({ ...template, metadata }));
  }
});
