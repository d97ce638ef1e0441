/** The two levels, what reaches nothing, and what is skipped and said. */
import type { KubeObject } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import type { Contribution } from '../contribution.ts';
import { templateOf } from '../workload/template.ts';
import { applyOverrides, overrideProblems } from './override.ts';
import type { Override, ToolOverride } from './schema.ts';
import { barePod, deepFreeze, fullPod, type WorkloadKind, workload } from './testing/workloads.ts';

const known = ['otel_pipeline', 'falco', 'osquery', 'tetragon', 'kyverno', 'trivy'];

const named = (kind: WorkloadKind, name: string): KubeObject =>
  workload(kind, { containers: [{ name, image: `${name}:1` }] }, name);

/** A stack: nodes, a gateway, a job, and a feature without pods. */
const stack: readonly Contribution[] = deepFreeze([
  {
    feature: 'otel_pipeline',
    objects: [named('DaemonSet', 'otel-node-collector'), named('Deployment', 'otel-gateway')],
  },
  {
    feature: 'falco',
    objects: [named('DaemonSet', 'falco'), { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'falco' } }],
  },
  { feature: 'kyverno', objects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'policies' } }] },
  { feature: 'trivy', objects: [named('CronJob', 'trivy')] },
]);

/** As it comes out of the CRD: anything in the free-form fields. */
type Loose = { readonly nodeAgent?: object; readonly perTool?: Readonly<Record<string, object>> };

function run(override: Loose, contributions: readonly Contribution[] = stack) {
  const { contributions: after, unmatched } = applyOverrides(deepFreeze(override) as Override, contributions, known);
  const objects = after.flatMap((one) => one.objects);
  const pods = (name: string) =>
    templateOf(objects.find((one) => one.metadata.name === name && one.kind !== 'ConfigMap') ?? expect.fail(name))
      ?.spec;
  return { after, unmatched, pods };
}

describe('which workloads are reached', () => {
  test('given no override, everything is as it was', () => {
    const { after, unmatched } = run({});
    expect(after).toEqual(stack);
    expect(unmatched).toEqual([]);
    expect(applyOverrides(undefined, stack, known)).toEqual({ contributions: stack, unmatched: [] });
  });

  test('nodeAgent reaches every DaemonSet and nothing else', () => {
    const { after, unmatched } = run({ nodeAgent: { priorityClassName: 'p' } });
    const changed = after.flatMap(({ objects }) =>
      objects.filter((one) => templateOf(one)?.spec?.priorityClassName === 'p').map((one) => one.metadata.name),
    );
    expect(changed).toEqual(['otel-node-collector', 'falco']);
    expect(unmatched).toEqual([]);
  });

  test('a feature reaches all its workloads, a name the one workload', () => {
    const byFeature = run({ perTool: { otel_pipeline: { priorityClassName: 'p' } } });
    expect(byFeature.pods('otel-gateway')?.priorityClassName).toBe('p');
    expect(byFeature.pods('otel-node-collector')?.priorityClassName).toBe('p');
    const byName = run({ perTool: { 'otel-gateway': { priorityClassName: 'p' } } });
    expect(byName.pods('otel-gateway')?.priorityClassName).toBe('p');
    expect(byName.pods('otel-node-collector')?.priorityClassName).toBeUndefined();
    expect([...byFeature.unmatched, ...byName.unmatched]).toEqual([]);
  });

  test('the narrower comes last: nodeAgent, feature, workload, whatever the order of the keys', () => {
    const { pods } = run({
      perTool: {
        'otel-node-collector': { args: ['workload'], priorityClassName: 'workload' },
        otel_pipeline: { args: ['feature'], priorityClassName: 'feature' },
      },
      nodeAgent: { args: ['nodes'], priorityClassName: 'nodes' },
    });
    expect(pods('otel-node-collector')?.containers[0]?.args).toEqual(['nodes', 'feature', 'workload']);
    expect(pods('otel-node-collector')?.priorityClassName).toBe('workload');
    expect(pods('otel-gateway')?.priorityClassName).toBe('feature');
    expect(pods('falco')?.priorityClassName).toBe('nodes');
  });

  test('a sidecar of nodeAgent does not take the place of the tool for perTool', () => {
    const { pods } = run({
      nodeAgent: { podTemplate: { spec: { containers: [{ name: 'aaa', image: 'side:1' }] } } },
      perTool: { falco: { image: 'falco:2' } },
    });
    expect(pods('falco')?.containers.map(({ name, image }) => `${name} ${image}`)).toEqual([
      'falco falco:2',
      'aaa side:1',
    ]);
  });
});

test('the own container is known by its name, wherever a patch moves it', () => {
  const full: readonly Contribution[] = [{ feature: 'falco', objects: [workload('DaemonSet', fullPod)] }];
  const { pods } = run(
    {
      nodeAgent: { podTemplate: { spec: { containers: [{ name: 'reloader', tty: true }, { name: 'falco' }] } } },
      perTool: { falco: { image: 'falco:2' } },
    },
    full,
  );
  expect(pods('falco')?.containers.map(({ name, image }) => `${name} ${image}`)).toEqual([
    'reloader reloader:1',
    'falco falco:2',
  ]);
});

describe('what reaches nothing is said', () => {
  test.each<[string, Loose, string, string]>([
    [
      'a mistyped tool',
      { perTool: { falcoo: {} } },
      'spec.override.perTool.falcoo',
      "no feature or workload of this name: there are otel_pipeline, falco, kyverno, trivy, otel-node-collector, otel-gateway; did you mean 'falco'?",
    ],
    [
      'a name of nothing',
      { perTool: { 'a.b c': {} } },
      'spec.override.perTool["a.b c"]',
      'no feature or workload of this name: there are otel_pipeline, falco, kyverno, trivy, otel-node-collector, otel-gateway',
    ],
    [
      'a feature that is off',
      { perTool: { tetragon: {} } },
      'spec.override.perTool.tetragon',
      'the feature installs nothing now: enable it, or remove this override',
    ],
    [
      'a feature without pods',
      { perTool: { kyverno: { args: [] } } },
      'spec.override.perTool.kyverno',
      'the feature has no pods of its own: there is nothing to override',
    ],
    [
      'an object that is no workload',
      { perTool: { policies: {} } },
      'spec.override.perTool.policies',
      'no feature or workload of this name: there are otel_pipeline, falco, kyverno, trivy, otel-node-collector, otel-gateway',
    ],
    [
      'a strategy for a CronJob',
      { perTool: { trivy: { updateStrategy: { type: 'OnDelete' } } } },
      'spec.override.perTool.trivy.updateStrategy',
      'CronJob trivy has none: its pods are made anew each time',
    ],
    [
      'a strategy in the words of another kind',
      { nodeAgent: { updateStrategy: { type: 'Recreate' } } },
      'spec.override.nodeAgent.updateStrategy.type',
      'DaemonSet otel-node-collector: must be RollingUpdate or OnDelete',
    ],
    [
      'a strategy that contradicts itself',
      { perTool: { 'otel-gateway': { updateStrategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } } } },
      'spec.override.perTool.otel-gateway.updateStrategy.rollingUpdate',
      'Deployment otel-gateway: must be left out with type Recreate',
    ],
    [
      'a container that no pod has',
      { nodeAgent: { podTemplate: { spec: { containers: [{ name: 'falko', tty: true }] } } } },
      'spec.override.nodeAgent.podTemplate.spec.containers[0]',
      "DaemonSet otel-node-collector has no container 'falko': it has otel-node-collector; to add one, give it an image",
    ],
    [
      'a mistyped container',
      { perTool: { falco: { podTemplate: { spec: { containers: [{ name: 'falko', tty: true }] } } } } },
      'spec.override.perTool.falco.podTemplate.spec.containers[0]',
      "DaemonSet falco has no container 'falko': it has falco; did you mean 'falco'?",
    ],
    [
      'a deletion of an init container that is not there',
      {
        perTool: {
          falco: { podTemplate: { spec: { initContainers: [{ name: 'x', image: 'y', $patch: 'delete' }] } } },
        },
      },
      'spec.override.perTool.falco.podTemplate.spec.initContainers[0]',
      "DaemonSet falco has no init container 'x': it has none; to add one, give it an image",
    ],
  ])('%s', (_title, override, path, message) => {
    const { after, unmatched } = run(override);
    expect(unmatched).toEqual([{ path, message }]);
    expect(after).toEqual(stack);
  });

  test('nodeAgent where there is no DaemonSet; an empty one asks for nothing', () => {
    const jobs = stack.slice(3);
    expect(run({ nodeAgent: { args: ['a'] } }, jobs).unmatched).toEqual([
      { path: 'spec.override.nodeAgent', message: 'no DaemonSet is installed: there is nothing to override' },
    ]);
    expect(run({ nodeAgent: {} }, jobs).unmatched).toEqual([]);
    expect(run({ perTool: { falco: {} } }, []).unmatched).toEqual([
      {
        path: 'spec.override.perTool.falco',
        message: 'the feature installs nothing now: enable it, or remove this override',
      },
    ]);
    expect(run({ perTool: { nothing: {} } }, []).unmatched[0]?.message).toBe(
      'no feature or workload of this name: nothing is installed',
    );
  });

  test('a part that some of the workloads have a place for is not missed by the others', () => {
    const { pods, unmatched } = run({
      nodeAgent: { podTemplate: { spec: { containers: [{ name: 'falco', tty: true }] } } },
      perTool: { otel_pipeline: { updateStrategy: { type: 'Recreate' } } },
    });
    expect(unmatched).toEqual([]);
    expect(pods('falco')?.containers[0]?.tty).toBe(true);
    expect(pods('otel-node-collector')?.containers).toHaveLength(1);
  });
});

describe('what must not be changed', () => {
  test('labels that select the pods, and the marks of the operator, stay; the rest of the part is applied', () => {
    const { after, unmatched } = run({
      perTool: {
        falco: {
          labels: { app: 'other', 'security.ctem.io/feature': 'x', team: 'a' },
          annotations: { 'security.ctem.io/config-checksum': 'x', note: 'two' },
        },
      },
    });
    expect(unmatched).toEqual([
      {
        path: 'spec.override.perTool.falco.labels.app',
        message: 'cannot be changed: DaemonSet falco selects its pods by it',
      },
      {
        path: 'spec.override.perTool.falco.labels["security.ctem.io/feature"]',
        message: 'cannot be changed: the operator finds and rolls pods by it',
      },
      {
        path: 'spec.override.perTool.falco.annotations["security.ctem.io/config-checksum"]',
        message: 'cannot be changed: the operator finds and rolls pods by it',
      },
    ]);
    expect(templateOf(after[1]?.objects[0] ?? expect.fail())?.metadata).toEqual({
      labels: { app: 'falco', tier: 'node', 'security.ctem.io/feature': 'falco', team: 'a' },
      annotations: { note: 'two', 'security.ctem.io/config-checksum': '0123' },
    });
  });

  test('what is refused for several workloads alike is said once', () => {
    const { unmatched } = run({ nodeAgent: { labels: { 'security.ctem.io/feature': 'x' } } });
    expect(unmatched).toHaveLength(1);
  });

  test.each<[string, object]>([
    ['changed', { labels: { app: 'x' }, annotations: { 'security.ctem.io/config-checksum': 'y' } }],
    ['taken away', { labels: { app: null }, annotations: { 'security.ctem.io/config-checksum': null } }],
  ])('nor by a patch: %s', (_title, metadata) => {
    const { after, unmatched } = run({ perTool: { falco: { podTemplate: { metadata } } } });
    expect(unmatched.map(({ path }) => path)).toEqual([
      'spec.override.perTool.falco.podTemplate.metadata.labels.app',
      'spec.override.perTool.falco.podTemplate.metadata.annotations["security.ctem.io/config-checksum"]',
    ]);
    expect(after).toEqual(stack);
  });
});

describe('what no server would take is skipped and said, and everything else is applied', () => {
  const at = (part: string): string => `spec.override.perTool.falco.${part}`;
  const invalid = (flaw: string): string => `would leave DaemonSet falco invalid: ${flaw}`;
  const container = (fields: object): object => ({
    podTemplate: { spec: { containers: [{ name: 'falco', ...fields }] } },
  });

  test.each<[string, object, string, string]>([
    ['a volume without a name', { volumes: [{}] }, at('volumes[0].name'), 'is required'],
    [
      'a volume twice',
      { volumes: [{ name: 'a' }, { name: 'a' }] },
      at('volumes[1]'),
      'there is already one with name a',
    ],
    [
      'a volume of two sources',
      { volumes: [{ name: 'a', emptyDir: {}, hostPath: { path: '/' } }] },
      at('volumes[0]'),
      'only one of emptyDir, hostPath can be set: take away the others (null)',
    ],
    ['a mount without a path', { volumeMounts: [{ name: 'etc' }] }, at('volumeMounts[0].mountPath'), 'is required'],
    [
      'a mount of no volume',
      { volumeMounts: [{ name: 'x', mountPath: '/x' }] },
      at('volumeMounts'),
      invalid("container falco: mounts volume 'x', which the pod does not have"),
    ],
    [
      'a mistyped field',
      { securityContext: { priviledged: true } },
      at('securityContext.priviledged'),
      "unknown field: did you mean 'privileged'?",
    ],
    [
      'a wrong type',
      { securityContext: { runAsUser: 'root' } },
      at('securityContext.runAsUser'),
      "must be a whole number, got 'root'",
    ],
    [
      'an affinity of nothing',
      { affinity: { nodeAffinity: [] } },
      at('affinity.nodeAffinity'),
      'must be an object, got a list',
    ],
    [
      'an env of two sources',
      { env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'a' } } }] },
      at('env[0]'),
      'only one of value, valueFrom can be set: take away the others (null)',
    ],
    [
      'an env of no source',
      { env: [{ name: 'A', valueFrom: {} }] },
      at('env[0].valueFrom'),
      'needs one of configMapKeyRef, fieldRef, fileKeyRef, resourceFieldRef, secretKeyRef',
    ],
    [
      'a toleration of nothing',
      { tolerations: [{ effect: 'NoSchedule' }] },
      at('tolerations[0].operator'),
      'must be Exists where there is no key: it tolerates every taint',
    ],
    [
      'a request above its limit',
      { resources: { requests: { cpu: '1500m' }, limits: { cpu: 1 } } },
      at('resources.requests.cpu'),
      '1500m is more than the limit, 1',
    ],
    [
      'a resource that is none',
      { resources: { requests: { mem: '1Gi' } } },
      at('resources.requests.mem'),
      'is no resource: cpu, memory, ephemeral-storage, hugepages-<size>, or one with a domain, e.g. nvidia.com/gpu',
    ],
    [
      'a key that is none',
      { nodeSelector: { 'a b': 'c' } },
      at('nodeSelector["a b"]'),
      "is no key: letters, digits, '-', '_' and '.', at most 63, after a domain and '/' if it has one, e.g. example.com/team",
    ],
    [
      'a patch beside the spec',
      { podTemplate: { containers: [] } },
      at('podTemplate.containers'),
      'unknown field: a pod template has metadata and spec',
    ],
    [
      'a container without a name',
      { podTemplate: { spec: { containers: [{ image: 'x' }] } } },
      at('podTemplate.spec.containers[0]'),
      'needs name: items of this list are told apart by it',
    ],
    [
      'a directive that is none',
      { podTemplate: { spec: { nodeSelector: { $patch: 'remove' } } } },
      at('podTemplate.spec.nodeSelector.$patch'),
      "must be 'replace' or 'delete', got 'remove'",
    ],
    [
      'a replacement of more than was meant',
      { podTemplate: { spec: { containers: [{ name: 'falco', image: 'x', $patch: 'replace' }] } } },
      at('podTemplate.spec.containers[0]'),
      '$patch: replace replaces the whole list and leaves out the item that it stands in: give it an item of its own',
    ],
    [
      'no container left',
      {
        podTemplate: {
          spec: {
            containers: [
              { name: 'falco', $patch: 'delete' },
              { name: 'reloader', $patch: 'delete' },
            ],
          },
        },
      },
      at('podTemplate'),
      invalid('spec.containers: none is left'),
    ],
    [
      'a probe of two handlers',
      container({ livenessProbe: { exec: { command: ['true'] } } }),
      at('podTemplate'),
      invalid('spec.containers[0].livenessProbe: only one of exec, httpGet can be set: take away the others (null)'),
    ],
    [
      'a label that cannot be',
      { podTemplate: { metadata: { labels: { a: 'b c' } } } },
      at('podTemplate'),
      invalid(
        "metadata.labels.a: must be at most 63 letters, digits, '-', '_' and '.', and begin and end with a letter or digit",
      ),
    ],
  ])('%s', (_title, override, path, message) => {
    const full: readonly Contribution[] = [{ feature: 'falco', objects: [workload('DaemonSet', fullPod)] }];
    const beside = { priorityClassName: 'beside' };
    const { after, unmatched } = run({ perTool: { falco: { ...override, ...beside } } }, full);
    expect(unmatched).toEqual([{ path, message }]);
    expect(after).toEqual(run({ perTool: { falco: beside } }, full).after);
    // What is malformed, and not only out of place, is told at admission too.
    if (!message.startsWith('would leave'))
      expect(overrideProblems({ perTool: { falco: override as ToolOverride } })).toEqual(unmatched);
  });

  test('a port twice, for a patch knows ports by their number alone', () => {
    const ports = [
      { containerPort: 53, protocol: 'TCP' },
      { containerPort: 53, protocol: 'UDP' },
    ];
    const dns = workload('DaemonSet', { containers: [{ name: 'falco', image: 'falco:1', ports }] });
    const patch = container({ ports: [{ containerPort: 53, protocol: 'UDP', name: 'dns' }] });
    const { unmatched } = run({ perTool: { falco: patch } }, [{ feature: 'falco', objects: [dns] }]);
    const flaw = 'spec.containers[0].ports[1]: there is already one with containerPort 53, protocol UDP';
    expect(unmatched).toEqual([{ path: at('podTemplate'), message: invalid(flaw) }]);
  });

  test('a port twice, for TCP is what a port is when it says nothing', () => {
    const ports = [{ $patch: 'replace' }, { containerPort: 53 }, { containerPort: 53, protocol: 'TCP' }];
    const { unmatched } = run({ perTool: { falco: container({ ports }) } }, [
      { feature: 'falco', objects: [workload('DaemonSet', fullPod)] },
    ]);
    expect(unmatched[0]?.message).toContain('there is already one with containerPort 53, protocol TCP');
  });

  test('a pod that the feature made wrong is not blamed on the override', () => {
    const broken = workload('DaemonSet', { ...barePod, volumes: [{ name: 'a' }, { name: 'a' }] });
    const { unmatched } = run({ perTool: { falco: { args: ['x'] } } }, [{ feature: 'falco', objects: [broken] }]);
    expect(unmatched).toEqual([]);
  });

  test('a workload without a container has no place for what belongs to one', () => {
    const empty = workload('DaemonSet', { containers: [] });
    const { unmatched } = run({ perTool: { falco: { args: ['x'] } } }, [{ feature: 'falco', objects: [empty] }]);
    expect(unmatched).toEqual([{ path: at('args'), message: 'DaemonSet falco has no container' }]);
  });
});
