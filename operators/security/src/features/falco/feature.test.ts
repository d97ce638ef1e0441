import { renderInstance } from '@keelson/runtime';
import type { ConfigMap, DaemonSet, KubeObject } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createSecurityOperator } from '../../operator.ts';
import { agentOf } from '../../testing/agent.ts';
import { goldenTests } from '../../testing/golden.ts';
import { falco } from './feature.ts';

goldenTests(import.meta.url, falco);

type Config = Record<string, unknown>;

function rendered(config: Config = {}, spec: Config = {}) {
  const { objects } = renderInstance(createSecurityOperator([falco]), agentOf([{ name: 'falco', config }], spec));
  const find = <T extends KubeObject>(kind: string, name: string): T | undefined =>
    objects.find((one) => one.kind === kind && one.metadata.name === name) as T | undefined;
  const pod = find<DaemonSet>('DaemonSet', 'falco')?.spec?.template.spec;
  return { objects, find, pod, falco: pod?.containers[0], loader: pod?.initContainers?.[0] };
}

function problemsOf(config: Config): readonly string[] {
  const result = falco.config.parse(config, 'spec.config');
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
}

const settings = (config: Config = {}) =>
  parse(rendered(config).find<ConfigMap>('ConfigMap', 'falco')?.data?.['falco.yaml'] ?? '') as Record<string, unknown>;

describe('what each driver needs of a node', () => {
  test('the modern probe lives with four capabilities, and sees the node read-only', () => {
    const { pod, falco: container, loader } = rendered();

    expect(container?.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'], add: ['BPF', 'PERFMON', 'SYS_PTRACE', 'SYS_RESOURCE'] },
      readOnlyRootFilesystem: true,
      seLinuxOptions: { type: 'spc_t' },
    });
    expect(container?.securityContext?.privileged).toBeUndefined();
    expect(loader).toBeUndefined();
    const writable = container?.volumeMounts
      ?.filter(({ readOnly }) => readOnly !== true)
      .map(({ mountPath }) => mountPath);
    expect(writable).toEqual(['/var/log/security/falco', '/tmp']);
    expect(pod?.volumes?.flatMap(({ hostPath }) => hostPath?.path ?? [])).toEqual([
      '/var/log/security/falco',
      '/proc',
      '/etc',
      '/sys/kernel',
      '/run/containerd',
      '/run/crio',
      '/run/k3s/containerd',
    ]);
  });

  test('where SELinux rules, whoever writes to the node may, with any driver', () => {
    for (const driver of ['modern_ebpf', 'kmod', 'ebpf']) {
      const writers = rendered({ driver }).pod?.containers.filter(({ volumeMounts = [] }) =>
        volumeMounts.some(({ name }) => name === 'events'),
      );

      expect(writers?.map(({ name }) => name)).toEqual(['falco', 'rotate']);
      for (const { securityContext } of writers ?? [])
        if (securityContext?.privileged !== true) expect(securityContext?.seLinuxOptions).toEqual({ type: 'spc_t' });
    }
  });

  test('where capabilities do not do, the user may ask for all', () => {
    expect(rendered({ privileged: true }).falco?.securityContext).toEqual({
      privileged: true,
      readOnlyRootFilesystem: true,
    });
  });

  test('a kernel module is built and loaded before Falco starts', () => {
    const { falco: container, loader, pod } = rendered({ driver: 'kmod' });

    expect(container?.securityContext?.privileged).toBe(true);
    expect(container?.volumeMounts).toContainEqual({ name: 'dev', mountPath: '/host/dev', readOnly: true });
    expect(loader).toMatchObject({
      image: 'docker.io/falcosecurity/falco-driver-loader:0.44.1',
      args: ['kmod'],
      securityContext: { privileged: true },
    });
    expect(loader?.volumeMounts).toContainEqual({ name: 'boot', mountPath: '/host/boot', readOnly: true });
    const names = pod?.volumes?.map(({ name }) => name) ?? [];
    expect(names).toEqual([...new Set(names)]);
  });

  test('the old probe comes with the last Falco that has it, and a loader of the same version', () => {
    const { falco: container, loader } = rendered({ driver: 'ebpf' });

    expect([container?.image, loader?.image]).toEqual([
      'docker.io/falcosecurity/falco:0.43.1',
      'docker.io/falcosecurity/falco-driver-loader:0.43.1',
    ]);
    expect(settings({ driver: 'ebpf' }).engine).toMatchObject({
      kind: 'ebpf',
      ebpf: { probe: '/root/.falco/falco-bpf.o' },
    });
  });

  test('every mount has its volume, whatever the driver', () => {
    for (const driver of ['modern_ebpf', 'kmod', 'ebpf']) {
      const { pod } = rendered({ driver, rules: { 'mine.yaml': [{ macro: 'm', condition: 'evt.num=0' }] } });
      const volumes = new Set(pod?.volumes?.map(({ name }) => name));
      const mounts = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])].flatMap(
        (one) => one.volumeMounts ?? [],
      );

      expect(mounts.filter(({ name }) => !volumes.has(name))).toEqual([]);
      expect([...volumes].filter((name) => !mounts.some((mount) => mount.name === name))).toEqual([]);
    }
  });
});

describe('images', () => {
  test('defaults come from the mirror, and what a user names is taken as it is', () => {
    const global = { imageRegistry: 'registry.example.com/mirror' };
    const mirrored = rendered({ driver: 'kmod' }, { global });
    const named = rendered({ image: 'example.com/falco:1' }, { global });

    expect(mirrored.falco?.image).toMatch(/^registry\.example\.com\/mirror\/falcosecurity\/falco:0\.44\.1@sha256:/);
    expect(mirrored.loader?.image).toBe('registry.example.com/mirror/falcosecurity/falco-driver-loader:0.44.1');
    expect(mirrored.pod?.containers[1]?.image).toMatch(/^registry\.example\.com\/mirror\/library\/busybox:/);
    expect(named.falco?.image).toBe('example.com/falco:1');
  });
});

describe('the account', () => {
  test('has a role, as the contract says, but pods that ask nothing hold no token', () => {
    const { objects, pod } = rendered();

    expect(objects.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding']),
    );
    expect(pod?.automountServiceAccountToken).toBe(false);
  });
});

describe('falco.yaml', () => {
  test('events are JSON lines in the file that the pipeline reads', () => {
    expect(settings()).toMatchObject({
      json_output: true,
      json_include_tags_property: true,
      file_output: { enabled: true, keep_alive: false, filename: '/var/log/security/falco/events.log' },
      watch_config_files: false,
      engine: { kind: 'modern_ebpf' },
      webserver: { enabled: true, listen_port: 8765, k8s_healthz_endpoint: '/healthz' },
    });
    expect(falco.telemetry?.({} as never).path).toBe('/var/log/security/falco/events.log');
  });

  test('attempts that fail are not dropped by any driver', () => {
    for (const driver of ['modern_ebpf', 'kmod', 'ebpf'])
      expect(settings({ driver }).engine).toMatchObject({ [driver]: { drop_failed_exit: false } });
  });

  test('looks for the rules of the user only where there are some: Falco does not start on a folder that is missing', () => {
    const shipped = ['/etc/falco/falco_rules.yaml', '/etc/falco-agent/technique-rules.yaml'];

    expect(settings().rules_files).toEqual(shipped);
    expect(settings({ rules: { 'mine.yaml': '- macro: m\n  condition: evt.num=0\n' } }).rules_files).toEqual([
      ...shipped,
      '/etc/falco-rules',
    ]);
  });

  test('every level of Falco has one of OpenTelemetry', () => {
    const { severity } = falco.telemetry?.({} as never) ?? {};
    const words = Object.values(severity?.levels ?? {}).flat();

    // As engine/falco_common.h of Falco names them.
    expect(words.toSorted()).toEqual(
      ['Alert', 'Critical', 'Debug', 'Emergency', 'Error', 'Informational', 'Notice', 'Warning'].toSorted(),
    );
  });
});

describe('the rules of a user', () => {
  test('come as text or as a list, and Falco gets both as files', () => {
    const text = '# mine\n- macro: quiet\n  condition: (evt.num=0)\n';
    const list = [{ rule: 'Schedule Cron Jobs', enabled: false, override: { enabled: 'replace' } }];
    const { find, pod } = rendered({ rules: { '10-text.yaml': text, '20-list.yml': list } });
    const data = find<ConfigMap>('ConfigMap', 'falco-rules')?.data;

    expect(data?.['10-text.yaml']).toBe(text);
    expect(parse(data?.['20-list.yml'] ?? '')).toEqual(list);
    expect(pod?.volumes).toContainEqual({ name: 'rules', configMap: { name: 'falco-rules' } });
  });

  test('a change of a rule rolls the pods', () => {
    const checksum = (rules: Config) =>
      rendered({ rules }).find<DaemonSet>('DaemonSet', 'falco')?.spec?.template.metadata?.annotations;

    expect(checksum({ 'a.yaml': [{ macro: 'm', condition: 'evt.num=0' }] })).not.toEqual(
      checksum({ 'a.yaml': [{ macro: 'm', condition: 'evt.num>0' }] }),
    );
  });

  test.each<[string, Config, string | RegExp]>([
    [
      'text that is no YAML',
      { 'a.yaml': '- macro: [' },
      /^spec\.config\.rules\["a\.yaml"\]: is not YAML: .* at line 1/,
    ],
    ['text that is no list', { 'a.yaml': 'macro: m' }, 'spec.config.rules["a.yaml"]: must be a list of rules'],
    ['nothing at all', { 'a.yaml': '# later\n' }, 'spec.config.rules["a.yaml"]: must be a list of rules'],
    ['an empty list', { 'a.yaml': [] }, 'spec.config.rules["a.yaml"]: must be a list of rules'],
    ['an object', { 'a.yaml': { macro: 'm' } }, 'spec.config.rules["a.yaml"]: must be a list of rules'],
    [
      'an item of no kind',
      { 'a.yaml': [{ macro: 'm', condition: 'x' }, { condition: 'x' }] },
      'spec.config.rules["a.yaml"][1]: must be an object with one of rule, macro',
    ],
    [
      'the same as text',
      { 'a.yaml': '- macro: m\n  condition: x\n- 5\n' },
      'spec.config.rules["a.yaml"][1]: must be an object with one of rule, macro',
    ],
    [
      'a rule without a name',
      { 'a.yaml': [whole({ rule: '' })] },
      'spec.config.rules["a.yaml"][0]: the name of a rule must be',
    ],
    [
      'a rule that is half',
      { 'a.yaml': [{ rule: 'a', desc: 'd' }] },
      'spec.config.rules["a.yaml"][0]: a rule needs condition, output, priority; to change',
    ],
    [
      'a name and nothing else',
      { 'a.yaml': '- rule: a\n' },
      'spec.config.rules["a.yaml"][0]: a rule needs condition, output, desc, priority',
    ],
    [
      'a priority of its own',
      { 'a.yaml': [whole({ priority: 'warn' })] },
      'spec.config.rules["a.yaml"][0]: priority must be one of emergency',
    ],
    [
      'a macro that means nothing',
      { 'a.yaml': [{ macro: 'm' }] },
      'spec.config.rules["a.yaml"][0]: a macro needs condition',
    ],
    [
      'a list of nothing',
      { 'a.yaml': '- list: l\n  items: nginx\n' },
      'spec.config.rules["a.yaml"][0]: a list needs items',
    ],
    ['a name that Falco passes over', { 'a.txt': '- macro: m' }, 'spec.config.rules["a.txt"]: must be named like'],
    [
      'a name that leaves the folder',
      { '../a.yaml': '- macro: m' },
      'spec.config.rules["../a.yaml"]: must be named like',
    ],
    [
      'more than a ConfigMap holds',
      { 'a.yaml': `- macro: m\n  condition: ${'x'.repeat(1_000_000)}\n` },
      'spec.config.rules: must not exceed 1000000 bytes together',
    ],
    ['aliases that multiply', { 'a.yaml': bomb() }, 'spec.config.rules["a.yaml"]: is not YAML that can be read'],
  ])('%s is a problem with its path', (_, rules, expected) => {
    const problems = problemsOf({ rules });

    expect(problems).toHaveLength(1);
    if (typeof expected === 'string') expect(problems[0]?.slice(0, expected.length)).toBe(expected);
    else expect(problems[0]).toMatch(expected);
  });

  test.each<[string, object]>([
    ['whole', whole({})],
    ['with a level in capitals', whole({ priority: 'INFO' })],
    ['named by a number', whole({ rule: 5 })],
    ['changed', { rule: 'a', condition: 'and evt.num=0', override: { condition: 'append' } }],
    ['changed in the old way', { rule: 'a', append: true, condition: 'and evt.num=0' }],
    ['switched off', { rule: 'a', enabled: false }],
    ['a list of numbers', { list: 'ports', items: [1, 2] }],
    ['a list of nothing yet', { list: 'none', items: [] }],
    ['a version', { required_engine_version: '0.31.0' }],
  ])('a rule may be %s', (_, item) => {
    expect(problemsOf({ rules: { 'a.yaml': [item] } })).toEqual([]);
  });

  test('half a megabyte of them is fine', () => {
    const rule = (index: number) => ({ macro: `macro_${index}`, condition: `(proc.name=${'x'.repeat(200)}${index})` });
    const rules = { 'many.yaml': Array.from({ length: 1900 }, (_, index) => rule(index)) };

    expect(JSON.stringify(rules).length).toBeGreaterThan(450_000);
    expect(rendered({ rules }).find<ConfigMap>('ConfigMap', 'falco-rules')?.data?.['many.yaml']).toContain(
      'macro_1899',
    );
  });
});

/** A rule with all that Falco asks for. */
function whole(fields: Config): Config {
  return { rule: 'a', desc: 'd', condition: 'evt.num=0', output: 'o', priority: 'WARNING', ...fields };
}

/** Small text, endless meaning. */
function bomb(): string {
  const lines = ['- &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 9; level++)
    lines.push(`- &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(', ')}]`);
  return lines.join('\n');
}

test.each(['modern_ebpf', 'kmod', 'ebpf'])(
  'sockets in folders that are mounted anyway are mounted once: %s',
  (driver) => {
    const criSockets = ['/etc/x.sock', '/proc/y.sock', '/dev/z.sock', '/run/a/b.sock', '/run/a/c.sock'];
    const { falco: container, pod } = rendered({ driver, criSockets });
    const mounted = container?.volumeMounts?.map(({ mountPath }) => mountPath) ?? [];
    const names = pod?.volumes?.map(({ name }) => name) ?? [];

    expect(mounted).toEqual(expect.arrayContaining(['/host/etc', '/host/proc', '/host/dev', '/host/run/a']));
    expect(mounted).toEqual([...new Set(mounted)]);
    expect(names).toEqual([...new Set(names)]);
    expect(container?.volumeMounts?.every(({ name }) => names.includes(name))).toBe(true);
  },
);

test('a socket outside of a folder of its own is refused', () => {
  expect(problemsOf({ criSockets: ['/run/../etc/x.sock'] })).toEqual([
    "spec.config.criSockets[0]: must be a path without '//', '.' and '..', got '/run/../etc/x.sock'",
  ]);
  for (const socket of ['/run/a//b.sock', '/run/./b.sock', '///b.sock', '//run/b.sock'])
    expect(problemsOf({ criSockets: [socket] })[0]).toMatch(/^spec\.config\.criSockets\[0\]: must be a path without/);
  expect(problemsOf({ criSockets: ['/docker.sock'] })[0]).toMatch(/^spec\.config\.criSockets\[0\]: /);
});
