/** Every field of an override, at every level, on every kind of workload, with and without something there before. */
import type { KubeObject } from '@keelson/schema';
import type { Container, PodSpec, PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import { describe, expect, test } from 'vitest';
import { templateOf } from '../workload/template.ts';
import { applyOverrides } from './override.ts';
import type { Override, ToolOverride } from './schema.ts';
import { barePod, deepFreeze, fullPod, kinds, workload } from './testing/workloads.ts';

interface Case {
  readonly title: string;
  readonly override: ToolOverride;
  /** Which part of the workload it is about. */
  readonly read: (template: PodTemplateSpec, object: KubeObject) => unknown;
  /** What is read afterwards on a pod with nothing but its container, and on one with something everywhere. */
  readonly bare: unknown;
  readonly full: unknown;
}

const pod = (template: PodTemplateSpec): PodSpec => template.spec ?? expect.fail('no pod');
const main = (template: PodTemplateSpec): Container => pod(template).containers[0] ?? expect.fail('no container');

const gpu = { key: 'gpu', operator: 'Exists', effect: 'NoSchedule' } as const;
const controlPlane = { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' };

const cases: readonly Case[] = [
  {
    title: 'tolerations: the same key and effect is replaced where it stands, others come after',
    override: { tolerations: [{ operator: 'Exists', effect: 'NoExecute' }, gpu] },
    read: (template) => pod(template).tolerations,
    bare: [{ operator: 'Exists', effect: 'NoExecute' }, gpu],
    full: [controlPlane, gpu, { operator: 'Exists', effect: 'NoExecute' }],
  },
  {
    title: 'tolerations: the same key with another effect is another one',
    override: { tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'NoExecute' }] },
    read: (template) =>
      pod(template)
        .tolerations?.filter(({ key }) => key === 'gpu')
        .map(({ effect }) => effect),
    bare: ['NoExecute'],
    full: ['NoSchedule', 'NoExecute'],
  },
  {
    title: 'tolerations: several values of one key all stay',
    override: { tolerations: ['b', 'c'].map((value) => ({ key: 'gpu', value, effect: 'NoSchedule' as const })) },
    read: (template) => pod(template).tolerations?.flatMap(({ value }) => value ?? []),
    bare: ['b', 'c'],
    full: ['b', 'c'],
  },
  {
    title: 'nodeSelector is merged by key',
    override: { nodeSelector: { pool: 'b', gpu: 'true' } },
    read: (template) => pod(template).nodeSelector,
    bare: { pool: 'b', gpu: 'true' },
    full: { 'kubernetes.io/os': 'linux', pool: 'b', gpu: 'true' },
  },
  {
    title: 'affinity is replaced',
    override: { affinity: { podAffinity: {} } },
    read: (template) => pod(template).affinity,
    bare: { podAffinity: {} },
    full: { podAffinity: {} },
  },
  {
    title: 'priorityClassName is replaced',
    override: { priorityClassName: 'high' },
    read: (template) => pod(template).priorityClassName,
    bare: 'high',
    full: 'high',
  },
  {
    title: 'resources are replaced as a whole',
    override: { resources: { requests: { cpu: '50m' } } },
    read: (template) => main(template).resources,
    bare: { requests: { cpu: '50m' } },
    full: { requests: { cpu: '50m' } },
  },
  {
    title: 'env is merged by name, and a value gives way to a source',
    override: {
      env: [
        { name: 'NEW', value: '1' },
        { name: 'LEVEL', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
      ],
    },
    read: (template) => main(template).env,
    bare: [
      { name: 'NEW', value: '1' },
      { name: 'LEVEL', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
    ],
    full: [
      { name: 'LEVEL', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
      { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      { name: 'NEW', value: '1' },
    ],
  },
  {
    title: 'args are added after those there are',
    override: { args: ['--more', '--cri'] },
    read: (template) => main(template).args,
    bare: ['--more', '--cri'],
    full: ['--quiet', '--cri', '--more', '--cri'],
  },
  {
    title: 'securityContext is merged by field, its profiles are replaced, null takes away',
    override: {
      securityContext: {
        capabilities: { add: ['SYS_PTRACE'] },
        seccompProfile: { type: 'RuntimeDefault' },
        allowPrivilegeEscalation: null as unknown as boolean,
      },
    },
    read: (template) => main(template).securityContext,
    bare: { capabilities: { add: ['SYS_PTRACE'] }, seccompProfile: { type: 'RuntimeDefault' } },
    full: { capabilities: { drop: ['ALL'], add: ['SYS_PTRACE'] }, seccompProfile: { type: 'RuntimeDefault' } },
  },
  {
    title: 'labels of the pods are merged by key',
    override: { labels: { tier: 'edge', team: 'security' } },
    read: (template) => template.metadata?.labels,
    bare: { app: 'falco', tier: 'edge', team: 'security', 'security.ctem.io/feature': 'falco' },
    full: { app: 'falco', tier: 'edge', team: 'security', 'security.ctem.io/feature': 'falco' },
  },
  {
    title: 'a label that selects the pods may be repeated as it is',
    override: { labels: { app: 'falco' } },
    read: (template) => template.metadata?.labels?.app,
    bare: 'falco',
    full: 'falco',
  },
  {
    title: 'annotations of the pods are merged by key',
    override: { annotations: { note: 'two', 'Example.com/owner': 'a b' } },
    read: (template) => template.metadata?.annotations,
    bare: { note: 'two', 'Example.com/owner': 'a b', 'security.ctem.io/config-checksum': '0123' },
    full: { note: 'two', 'Example.com/owner': 'a b', 'security.ctem.io/config-checksum': '0123' },
  },
  {
    title: 'volumes are merged by name, a volume of the same name is replaced as a whole',
    override: {
      volumes: [
        { name: 'new', emptyDir: {} },
        { name: 'proc', emptyDir: { medium: 'Memory' } },
      ],
    },
    read: (template) => pod(template).volumes?.map(({ name, ...source }) => [name, Object.keys(source)]),
    bare: [
      ['new', ['emptyDir']],
      ['proc', ['emptyDir']],
    ],
    full: [
      ['etc', ['configMap']],
      ['proc', ['emptyDir']],
      ['new', ['emptyDir']],
    ],
  },
  {
    title: 'volumeMounts are merged by mountPath, and their volumes may come with the same override',
    override: {
      volumes: [{ name: 'new', emptyDir: {} }],
      volumeMounts: [
        { name: 'new', mountPath: '/new' },
        { name: 'new', mountPath: '/etc/falco' },
      ],
    },
    read: (template) => main(template).volumeMounts,
    bare: [
      { name: 'new', mountPath: '/new' },
      { name: 'new', mountPath: '/etc/falco' },
    ],
    full: [
      { name: 'new', mountPath: '/etc/falco' },
      { name: 'proc', mountPath: '/host/proc' },
      { name: 'new', mountPath: '/new' },
    ],
  },
  {
    title: 'podTemplate reaches any field of a pod, and has the last word',
    override: {
      nodeSelector: { pool: 'b' },
      podTemplate: {
        metadata: { labels: { tier: null } },
        spec: {
          hostNetwork: true,
          nodeSelector: { pool: 'c' },
          hostPID: null,
          containers: [{ name: 'falco', tty: true }],
        },
      },
    },
    read: (template) => {
      const { hostNetwork, hostPID, nodeSelector } = pod(template);
      return {
        hostNetwork,
        hostPID,
        pool: nodeSelector?.pool,
        tier: template.metadata?.labels?.tier,
        tty: main(template).tty,
      };
    },
    bare: { hostNetwork: true, hostPID: undefined, pool: 'c', tier: undefined, tty: true },
    full: { hostNetwork: true, hostPID: undefined, pool: 'c', tier: undefined, tty: true },
  },
  {
    title: 'a container in podTemplate that is new comes after the own, which stays the first',
    override: {
      podTemplate: { spec: { containers: [{ name: 'side', image: 'side:1' }] } },
      volumeMounts: [{ name: 'v', mountPath: '/v' }],
      volumes: [{ name: 'v', emptyDir: {} }],
    },
    read: (template) =>
      pod(template).containers.map(({ name, volumeMounts = [] }) => [
        name,
        volumeMounts.some((one) => one.name === 'v'),
      ]),
    bare: [
      ['falco', true],
      ['side', false],
    ],
    full: [
      ['falco', true],
      ['reloader', false],
      ['side', false],
    ],
  },
];

const onlyPerTool: readonly Case[] = [
  {
    title: 'image is that of the first container',
    override: { image: 'mirror/falco:2' },
    read: (template) => pod(template).containers.map(({ image }) => image),
    bare: ['mirror/falco:2'],
    full: ['mirror/falco:2', 'reloader:1'],
  },
];

const levels: Readonly<Record<string, (override: ToolOverride) => Override>> = {
  nodeAgent: (override) => ({ nodeAgent: override }),
  'perTool by feature': (override) => ({ perTool: { falco_feature: override } }),
  'perTool by workload': (override) => ({ perTool: { falco: override } }),
};

function run(override: Override, object: KubeObject) {
  const contributions = deepFreeze([{ feature: 'falco_feature', objects: [object] }]);
  const result = applyOverrides(deepFreeze(override), contributions, ['falco_feature']);
  return { object: result.contributions[0]?.objects[0] ?? expect.fail('it is gone'), unmatched: result.unmatched };
}

describe.each(kinds)('%s', (kind) => {
  describe.each(Object.entries(levels))('%s', (level, wrap) => {
    const reached = level !== 'nodeAgent' || kind === 'DaemonSet';
    const given = level === 'nodeAgent' ? cases : [...cases, ...onlyPerTool];

    test.each(given.map((one) => [one.title, one] as const))('%s', (_title, { override, read, bare, full }) => {
      for (const [spec, expected] of [
        [barePod, bare],
        [fullPod, full],
      ] as const) {
        const before = workload(kind, spec);
        const { object, unmatched } = run(wrap(override), before);
        if (!reached) {
          expect(object).toBe(before);
          expect(unmatched).toEqual([
            { path: 'spec.override.nodeAgent', message: 'no DaemonSet is installed: there is nothing to override' },
          ]);
          continue;
        }
        expect(unmatched).toEqual([]);
        expect(read(templateOf(object) ?? expect.fail('no template'), object)).toEqual(expected);
      }
    });
  });

  test('updateStrategy is replaced, in the words of the kind', () => {
    const before = workload(kind);
    const { object, unmatched } = run(
      { perTool: { falco: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: {} } } } },
      { ...before, spec: { ...(before.spec as object), updateStrategy: { type: 'OnDelete' } } },
    );
    const wanted = { type: 'RollingUpdate', rollingUpdate: {} };
    if (kind === 'CronJob')
      expect(unmatched).toEqual([
        {
          path: 'spec.override.perTool.falco.updateStrategy',
          message: 'CronJob falco has none: its pods are made anew each time',
        },
      ]);
    else expect(object.spec).toMatchObject(kind === 'Deployment' ? { strategy: wanted } : { updateStrategy: wanted });
  });
});
