import { renderInstance } from '@keelson/runtime';
import type { ClusterRole, ConfigMap, DaemonSet, KubeObject } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { createSecurityOperator } from '../../operator.ts';
import { agentOf } from '../../testing/agent.ts';
import { goldenTests } from '../../testing/golden.ts';
import { tetragon } from './feature.ts';
import { policyName } from './tracing-policy.ts';

goldenTests(import.meta.url, tetragon);

type Config = Record<string, unknown>;

function rendered(config: Config = {}, spec: Config = {}) {
  const { objects } = renderInstance(createSecurityOperator([tetragon]), agentOf([{ name: 'tetragon', config }], spec));
  const find = <T extends KubeObject>(kind: string): T | undefined =>
    objects.find((one) => one.kind === kind) as T | undefined;
  return {
    find,
    pod: find<DaemonSet>('DaemonSet')?.spec?.template.spec,
    settings: find<ConfigMap>('ConfigMap')?.data ?? {},
    policies: objects.filter(({ kind }) => kind === 'TracingPolicy'),
  };
}

function problemsOf(config: Config): readonly string[] {
  const result = tetragon.config.parse(config, 'spec.config');
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
}

const filters = (text = '') => text.split('\n').map((line) => JSON.parse(line) as unknown);

describe('policies', () => {
  test('there is one for each technique of the scenario table, and its events carry the id', () => {
    const { policies } = rendered();
    const labels = policies.map(({ metadata }) => metadata.labels?.['security.ctem.io/technique']);

    expect(labels.toSorted()).toEqual(['T1053.003', 'T1059.004', 'T1552.001', 'T1611']);
    for (const { metadata, spec } of policies) {
      const { kprobes = [], tracepoints = [] } = spec as Record<string, { tags?: string[] }[]>;
      const hooks = [...kprobes, ...tracepoints];
      expect(hooks.length).toBeGreaterThan(0);
      for (const { tags } of hooks)
        expect(tags).toEqual([
          metadata.labels?.['security.ctem.io/technique'],
          expect.stringMatching(/^(Notice|Warning)$/),
        ]);
    }
  });

  test('belong to the cluster: no namespace, and a name of their agent', () => {
    for (const { metadata } of rendered().policies) {
      expect(metadata.namespace).toBeUndefined();
      expect(metadata.name).toMatch(/^[a-z-]+-security-system-main-[0-9a-f]{8}$/);
    }
  });

  test('users choose among them and add their own', () => {
    const own = { 'module-load': { kprobes: [{ call: 'do_init_module', syscall: false }] } };
    const { policies } = rendered({ policies: { builtIn: ['cron-schedule'], own } });

    expect(policies.map(({ spec }) => spec)).toContainEqual(own['module-load']);
    expect(policies.map(({ metadata }) => metadata.name.split('-security-')[0])).toEqual([
      'cron-schedule',
      'module-load',
    ]);
    expect(rendered({ policies: { builtIn: [] } }).policies).toEqual([]);
  });

  test.each([
    ['with a dot', 'module.load', /must be named in lower-case letters/],
    ['in capitals', 'Module', /must be named in lower-case letters/],
    ['of a built-in one', 'cron-schedule', /is the name of a built-in policy/],
  ])('a name %s is a problem with its path', (_, name, message) => {
    const [problem, ...others] = problemsOf({ policies: { own: { [name]: {} } } });

    expect(others).toEqual([]);
    expect(problem).toMatch(message);
    expect(problem?.startsWith(`spec.config.policies.own["${name}"]: `)).toBe(true);
  });

  test('one that is not built in is refused by what there is', () => {
    expect(problemsOf({ policies: { builtIn: ['shell'] } })[0]).toMatch(
      /^spec\.config\.policies\.builtIn\[0\]: .*shell-execution/,
    );
  });
});

describe('names of policies', () => {
  const nameOf = (namespace: string, name: string, policy = 'shell-execution') =>
    policyName(policy, { scopedName: (one) => `${one}.${namespace}.${name}` });

  test('have no dots, which the BPF file system refuses', () => {
    expect(nameOf('security-system', 'main.one')).not.toContain('.');
  });

  test('tell agents apart whose names run into each other', () => {
    expect(nameOf('a', 'b-c')).not.toBe(nameOf('a-b', 'c'));
  });

  test('fit into a file name and an object, however long the agent is called', () => {
    const long = nameOf('n'.repeat(63), 'a'.repeat(253), 'p'.repeat(63));

    expect(long.length).toBeLessThanOrEqual(253);
    expect(long).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
  });
});

describe('settings', () => {
  test('events go into the file of the pipeline, and Tetragon rotates it under names that the pipeline knows', () => {
    const { settings } = rendered({ log: { maxSizeMB: 7, maxFiles: 3 } });
    const source = tetragon.telemetry?.({} as never);

    expect(settings).toMatchObject({
      'export-filename': '/var/log/security/tetragon/events.log',
      'export-file-max-size-mb': '7',
      'export-file-max-backups': '3',
      'export-file-compress': 'false',
    });
    expect(source).toMatchObject({
      path: '/var/log/security/tetragon/events.log',
      rotated: '/var/log/security/tetragon/events-*.log',
    });
  });

  test('probes and the daily work of nodes are left out, and what a policy finds on a node is not', () => {
    const { settings } = rendered({ ignoreNamespaces: ['kube-system', 'storage'], events: ['PROCESS_KPROBE'] });

    expect(filters(settings['export-allowlist'])).toEqual([{ event_set: ['PROCESS_KPROBE'] }]);
    expect(filters(settings['export-denylist'])).toEqual([
      { health_check: true },
      { event_set: ['PROCESS_EXEC', 'PROCESS_EXIT'], namespace: [''] },
      { namespace: ['kube-system', 'storage'] },
    ]);
  });

  test('an empty list of namespaces is no filter: it would fit every event', () => {
    expect(filters(rendered({ ignoreNamespaces: [] }).settings['export-denylist'])).toHaveLength(2);
  });

  test('passwords on command lines are not written', () => {
    const [filter] = filters(rendered().settings['redaction-filters']) as { redact: string[] }[];
    const expression = new RegExp((filter?.redact[0] ?? '').replace('(?i)', ''), 'i');

    expect('mysql --password=hunter2'.match(expression)?.[1]).toBe('hunter2');
    expect('run -token abc'.match(expression)?.[1]).toBe('abc');
    expect('run --verbose'.match(expression)).toBeNull();
    expect(rendered({ redact: [] }).settings['redaction-filters']).toBe('');
  });

  test.each([
    ['(', 'is not a regular expression'],
    ['(?=x)', 'must do without look-around'],
    ['(a)\\1', 'must do without look-around'],
  ])('an expression like %s would keep Tetragon from starting: it is a problem', (expression, message) => {
    expect(problemsOf({ redact: ['(?i)(x)', expression] })).toEqual([
      expect.stringContaining(`spec.config.redact[1]: ${message}`),
    ]);
  });

  test('the cluster has the name that the user gave it', () => {
    expect(rendered({}, { global: { clusterName: 'prod' } }).settings['cluster-name']).toBe('prod');
  });
});

describe('the pod', () => {
  test('hands its BPF file system to the node, and only reads processes', () => {
    const mounts = rendered().pod?.containers[0]?.volumeMounts;

    expect(mounts).toContainEqual({ name: 'bpf', mountPath: '/sys/fs/bpf', mountPropagation: 'Bidirectional' });
    expect(mounts).toContainEqual({ name: 'proc', mountPath: '/procRoot', readOnly: true });
  });

  test('may follow what it needs, and change nothing', () => {
    const { pod, find } = rendered();
    const rules = find<ClusterRole>('ClusterRole')?.rules ?? [];

    expect(pod?.automountServiceAccountToken).toBe(true);
    expect(new Set(rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(['list', 'watch']));
    expect(rules.flatMap(({ resources = [] }) => resources).toSorted()).toEqual([
      'customresourcedefinitions',
      'nodes',
      'pods',
      'tracingpolicies',
      'tracingpoliciesnamespaced',
    ]);
  });

  test('has the image of the user, or ours from the mirror', () => {
    const global = { imageRegistry: 'registry.example.com' };

    expect(rendered({}, { global }).pod?.containers[0]?.image).toBe('registry.example.com/cilium/tetragon:v1.7.1');
    expect(rendered({ image: 'example.com/t:1' }, { global }).pod?.containers[0]?.image).toBe('example.com/t:1');
  });
});
