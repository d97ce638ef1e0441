/** Events as Falco 0.44 writes them with our settings (https://falco.org/docs/concepts/outputs/formatting), and what all tools share of each. */
import type { RecordedEvent } from '../../../telemetry/testing/recorded.ts';

const time = '2026-05-01T10:00:00.123456789Z';
const pod = {
  'container.id': '3f1c2a9be4d0',
  'container.image.repository': 'docker.io/library/nginx',
  'container.image.tag': '1.27',
  'container.name': 'web',
  'k8s.ns.name': 'shop',
  'k8s.pod.name': 'web-7c9d6f5b8-x2x4q',
};
const inPod = {
  'kubernetes.namespace': 'shop',
  'kubernetes.pod.name': 'web-7c9d6f5b8-x2x4q',
  'kubernetes.container.name': 'web',
  'container.id': '3f1c2a9be4d0',
};
/** A process of the node itself. */
const host = {
  'container.id': 'host',
  'container.image.repository': '',
  'container.image.tag': '',
  'container.name': 'host',
  'k8s.ns.name': null,
  'k8s.pod.name': null,
};
const base = { hostname: 'node-1', source: 'syscall', time };

export const recorded: readonly RecordedEvent[] = [
  {
    kind: 'a shell in a pod, by our rule',
    event: {
      ...base,
      output: '10:00:00.123456789: Notice Shell executed in a container | user=root process=sh command=sh -c id',
      output_fields: {
        ...pod,
        'evt.time': 1_777_629_600_123_456,
        'proc.cmdline': 'sh -c id',
        'proc.exepath': '/usr/bin/dash',
        'proc.name': 'sh',
        'proc.pname': null,
        'proc.tty': 0,
        'user.name': 'root',
        'user.uid': 0,
      },
      priority: 'Notice',
      rule: 'Shell Executed in Container',
      tags: ['T1059.004', 'container', 'mitre_execution', 'process'],
    },
    shared: {
      ...inPod,
      'rule.name': 'Shell Executed in Container',
      'process.executable': '/usr/bin/dash',
      'threat.technique.id': ['T1059.004'],
      'log.level': 'Notice',
      'event.severity': 10,
    },
  },
  {
    kind: 'a rule with several techniques',
    event: {
      ...base,
      output: '10:00:00.123456789: Warning Sensitive file opened for reading by non-trusted program | file=/etc/shadow',
      output_fields: { ...pod, 'fd.name': '/etc/shadow', 'proc.exepath': '/usr/bin/cat' },
      priority: 'Warning',
      rule: 'Read sensitive file untrusted',
      tags: ['T1555', 'T1552.001', 'container', 'filesystem', 'host', 'maturity_stable', 'mitre_credential_access'],
    },
    shared: {
      ...inPod,
      'rule.name': 'Read sensitive file untrusted',
      'process.executable': '/usr/bin/cat',
      'threat.technique.id': ['T1555', 'T1552.001'],
      'log.level': 'Warning',
      'event.severity': 13,
    },
  },
  {
    kind: 'a process of the node',
    event: {
      ...base,
      output: '10:00:00.123456789: Notice Cron job scheduled | file=/etc/cron.d/backup',
      output_fields: { ...host, 'fd.name': '/etc/cron.d/backup', 'proc.exepath': '/usr/bin/tee' },
      priority: 'Notice',
      rule: 'Schedule Cron Jobs',
      tags: ['T1053.003', 'container', 'filesystem', 'host', 'mitre_persistence'],
    },
    shared: {
      'rule.name': 'Schedule Cron Jobs',
      'process.executable': '/usr/bin/tee',
      'threat.technique.id': ['T1053.003'],
      'log.level': 'Notice',
      'event.severity': 10,
    },
  },
  {
    kind: 'tags without a technique',
    event: {
      ...base,
      output: '10:00:00.123456789: Critical Executing binary not part of base image',
      output_fields: pod,
      priority: 'Critical',
      rule: 'Drop and execute new binary in container',
      tags: ['PCI_DSS_11.5.1', 'TA0003', 'container', 'maturity_stable', 'mitre_persistence', 'process'],
    },
    shared: {
      ...inPod,
      'rule.name': 'Drop and execute new binary in container',
      'log.level': 'Critical',
      'event.severity': 18,
    },
  },
  {
    kind: 'no tags at all, and a container that nobody knows',
    event: {
      ...base,
      output: '10:00:00.123456789: Error Own rule',
      output_fields: { 'container.id': '3f1c2a9be4d0', 'container.name': '<NA>', 'k8s.ns.name': '<NA>' },
      priority: 'Error',
      rule: 'Own rule',
      tags: [],
    },
    shared: { 'rule.name': 'Own rule', 'container.id': '3f1c2a9be4d0', 'log.level': 'Error', 'event.severity': 17 },
  },
  {
    kind: 'what Falco says of itself',
    event: {
      hostname: 'node-1',
      output: 'Falco internal: syscall event drop. 2 system calls dropped in last second.',
      output_fields: { ebpf_enabled: '1', n_drops: '2', n_evts: '410' },
      priority: 'Debug',
      rule: 'Falco internal: syscall event drop',
      source: 'internal',
      time: '2026-05-01T10:00:01.000000000Z',
    },
    at: '2026-05-01T10:00:01',
    shared: { 'rule.name': 'Falco internal: syscall event drop', 'log.level': 'Debug', 'event.severity': 5 },
  },
  {
    kind: 'of another shape than promised',
    event: { ...base, output: 'odd', output_fields: 'none', priority: 3, rule: { name: 'nested' }, tags: 'T1059' },
    shared: {},
  },
];
