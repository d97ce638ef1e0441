/** Whatever the CRD lets through: nothing throws, nothing given is changed, and what a workload lives by stays. */
import { type KubeObject, parseInstance } from '@keelson/schema';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Contribution } from '../contribution.ts';
import { SecurityAgent } from '../resource.ts';
import { agentOf } from '../testing/agent.ts';
import { templateOf } from '../workload/template.ts';
import { applyOverrides, overrideProblems } from './override.ts';
import { podFields } from './patch/pod-fields.ts';
import type { Override } from './schema.ts';
import { podPatches } from './testing/patches.ts';
import { barePod, deepFreeze, fullPod, kinds, workload } from './testing/workloads.ts';

const contributions: readonly Contribution[] = deepFreeze([
  ...kinds.map((kind) => ({ feature: kind.toLowerCase(), objects: [workload(kind, fullPod, kind.toLowerCase())] })),
  {
    feature: 'bare',
    objects: [
      workload('DaemonSet', barePod, 'bare-node'),
      workload('CronJob', barePod, 'bare-job'),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'config' }, data: { a: 'b' } },
    ],
  },
]);
const tools = [
  ...contributions.map(({ feature }) => feature),
  'bare-node',
  'bare-job',
  'config',
  'falco',
  '__proto__',
  '',
];

/** Values that nobody planned for, made of the words of a pod. */
const words = [
  '$patch',
  '$retainKeys',
  '$setElementOrder/containers',
  '$deleteFromPrimitiveList/args',
  '__proto__',
  'constructor',
  'falco',
];
const fields = [
  ...new Set([
    ...words,
    'containers',
    'spec',
    'metadata',
    ...[...podFields.values()].flatMap((one) => [...one.fields.keys()]),
  ]),
];
const scalar = fc.oneof(
  fc.constantFrom(null, '', 'falco', 'delete', 'replace', 'a b', 0, -1, 1.5, 8080, true, false),
  fc.string({ maxLength: 5 }),
);
const { junk, map } = fc.letrec<{ junk: unknown; list: unknown[]; map: object }>((tie) => ({
  junk: fc.oneof({ depthSize: 'medium', withCrossShrink: true }, scalar, tie('map'), tie('list')),
  list: fc.array(tie('junk'), { maxLength: 3 }),
  map: fc
    .uniqueArray(fc.tuple(fc.constantFrom(...fields), tie('junk')), { maxLength: 4, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries)),
}));

const word = fc.constantFrom('a', 'falco', 'etc', 'LEVEL', 'proc');
const key = fc.constantFrom('a', 'example.com/a', 'pool', 'no key', 'Example.com/b');
const path = fc.constantFrom('/etc/falco', '/new', '/host/proc');
const amounts = fc.dictionary(
  fc.constantFrom('cpu', 'memory', 'mem', 'nvidia.com/gpu'),
  fc.constantFrom('100m', '1Gi', 1, '2', '1e3'),
  { maxKeys: 2 },
);
const few = { maxLength: 3 };

/** Some of the fields; those that the CRD has types for are right by them, most of the time. */
const pieces = fc.record(
  {
    image: word,
    tolerations: fc.array(
      fc.record(
        {
          key,
          operator: fc.constantFrom('Exists', 'Equal'),
          value: word,
          effect: fc.constantFrom('NoSchedule', 'NoExecute'),
          tolerationSeconds: fc.nat(9),
        },
        { requiredKeys: [] },
      ),
      few,
    ),
    nodeSelector: fc.dictionary(key, word, { maxKeys: 2 }),
    labels: fc.dictionary(fc.constantFrom('app', 'tier', 'security.ctem.io/feature', 'team'), word, { maxKeys: 3 }),
    annotations: fc.dictionary(fc.oneof(key, fc.constant('security.ctem.io/config-checksum')), fc.string(), {
      maxKeys: 2,
    }),
    priorityClassName: fc.constantFrom('high', 'low'),
    resources: fc.record({ requests: amounts, limits: amounts }, { requiredKeys: [] }),
    env: fc.uniqueArray(fc.record({ name: word, value: word, valueFrom: map }, { requiredKeys: ['name'] }), {
      maxLength: 2,
      selector: ({ name }) => name,
    }),
    args: fc.array(fc.string(), few),
    affinity: map,
    securityContext: map,
    volumes: fc.array(fc.oneof(map, fc.record({ name: word, emptyDir: map }, { requiredKeys: [] })), few),
    volumeMounts: fc.array(fc.oneof(map, fc.record({ name: word, mountPath: path }, { requiredKeys: [] })), few),
    updateStrategy: fc.oneof(map, fc.record({ type: fc.constantFrom('OnDelete', 'Recreate', 'RollingUpdate') })),
    podTemplate: fc.oneof(
      podPatches,
      map,
      fc.record({ metadata: junk, spec: junk }, { requiredKeys: [] }),
      fc.record({ spec: fc.record({ containers: fc.array(map, few) }) }),
    ),
  },
  { requiredKeys: [] },
);
const overrides = fc.record(
  { nodeAgent: pieces, perTool: fc.dictionary(fc.constantFrom(...tools), pieces, { maxKeys: 3 }) },
  { requiredKeys: [] },
);

/** The override as the CRD gives it; undefined when it refuses. */
function parsed(override: unknown): Override | undefined {
  const result = parseInstance(SecurityAgent, agentOf([], { override }));
  return result.ok ? result.instance.spec.override : undefined;
}

const identity = ({ apiVersion, kind, metadata }: KubeObject): unknown => ({ apiVersion, kind, metadata });
/** What must stay: the marks of the operator, and the label that all but jobs select their pods by. */
const held = (object: KubeObject): unknown => {
  const { labels, annotations } = templateOf(object)?.metadata ?? {};
  return [
    object.kind === 'CronJob' || labels?.app,
    labels?.['security.ctem.io/feature'],
    annotations?.['security.ctem.io/config-checksum'],
  ];
};

test('random overrides', () => {
  let taken = 0;
  let spotless = 0;
  fc.assert(
    fc.property(overrides, (given) => {
      const override = parsed(given);
      if (override === undefined) return;
      taken += 1;
      const { contributions: after, unmatched } = applyOverrides(override, contributions, ['falco']);
      if (unmatched.length === 0) spotless += 1;
      const before = contributions.flatMap(({ objects }) => objects);
      const objects = after.flatMap((one) => one.objects);
      expect(objects.map(identity)).toEqual(before.map(identity));
      expect(objects.map(held)).toEqual(before.map(held));
      expect(objects.at(-1)).toBe(before.at(-1));
      for (const { path, message } of unmatched) {
        expect(path).toMatch(/^spec\.override\.(nodeAgent|perTool[.[])/);
        expect(message).not.toBe('');
      }
      // What admission finds is among what the loop says.
      expect(unmatched).toEqual(expect.arrayContaining([...overrideProblems(override)]));
      expect(Object.getPrototypeOf({})).toBe(Object.prototype);
    }),
    { numRuns: 500 },
  );
  expect(taken).toBeGreaterThan(200);
  expect(spotless).toBeGreaterThan(5);
});

test('a patch that is nested beyond reason is said to be', () => {
  let nested: object = {};
  for (let level = 0; level < 100; level += 1) nested = { deeper: nested };
  const override =
    parsed({ perTool: { bare: { podTemplate: { spec: { future: nested } } } } }) ?? expect.fail('refused');
  const { unmatched } = applyOverrides(override, contributions, []);
  expect(unmatched).toEqual([
    { path: 'spec.override.perTool.bare.podTemplate.spec.future', message: 'is nested more than 64 levels deep' },
  ]);
});

test('half a megabyte of override is no burden', () => {
  const env = Array.from({ length: 200 }, (_, index) => ({ name: `VARIABLE_${index}`, value: 'x'.repeat(1200) }));
  const args = Array.from({ length: 100 }, (_, index) => `--${index}=${'y'.repeat(2500)}`);
  const override = parsed({
    nodeAgent: { env },
    perTool: { bare: { args, podTemplate: { spec: { containers: [{ name: 'falco', env }] } } } },
  });
  const start = performance.now();
  const { unmatched } = applyOverrides(override, contributions, []);
  const spent = performance.now() - start;
  console.log(`half a megabyte of override takes ${spent.toFixed(0)} ms`);
  // Of a busy machine too.
  expect(spent).toBeLessThan(10_000);
  expect(unmatched).toEqual([]);
});
