/** Events as Tetragon 1.7 exports them (https://tetragon.io/docs/concepts/events), and what all tools share of each. */
import type { RecordedEvent } from '../../../telemetry/testing/recorded.ts';

const time = '2026-05-01T10:00:00.123456789Z';
const base = { node_name: 'node-1', time, cluster_name: 'prod' };
const container = {
  id: 'containerd://3f1c2a9be4d0c2f7a3c0a5d1b6e8f90123456789abcdef0123456789abcdef01',
  name: 'web',
  image: { id: 'docker.io/library/nginx@sha256:0a399eb16751829e1af26fea27b20c3ec28d7ab1fb72182879dcae1cca21206a' },
  start_time: '2026-05-01T09:00:00Z',
  pid: 52,
};
const process = {
  exec_id: 'bm9kZS0xOjEyMzQ1Njc4OTo1Mg==',
  pid: 4711,
  uid: 0,
  cwd: '/',
  binary: '/usr/bin/cat',
  arguments: '/etc/shadow',
  flags: 'execve rootcwd clone',
  start_time: '2026-05-01T10:00:00.123000000Z',
  auid: 4_294_967_295,
  pod: {
    namespace: 'shop',
    name: 'web-7c9d6f5b8-x2x4q',
    container,
    pod_labels: { app: 'web' },
    workload: 'web',
    workload_kind: 'Deployment',
  },
  docker: '3f1c2a9be4d0c2f7a3c0a5d1b6e8f90',
  parent_exec_id: 'bm9kZS0xOjEyMzQ1NjE6NTE=',
  cap: { permitted: ['CAP_CHOWN', 'DAC_OVERRIDE'], effective: ['CAP_CHOWN'] },
  ns: { uts: { inum: 4_026_532_500 }, mnt: { inum: 4_026_532_501 } },
  tid: 4711,
  in_init_tree: false,
};
const inPod = {
  'process.executable': '/usr/bin/cat',
  'kubernetes.namespace': 'shop',
  'kubernetes.pod.name': 'web-7c9d6f5b8-x2x4q',
  'kubernetes.container.name': 'web',
  'container.id': '3f1c2a9be4d0c2f7a3c0a5d1b6e8f90123456789abcdef0123456789abcdef01',
};
const { pod: _none, docker: _neither, ...ofNode } = process;
const policy = 'credential-access-security-system-main-1a2b3c4d';

export const recorded: readonly RecordedEvent[] = [
  { kind: 'exec in a pod', event: { process_exec: { process, parent: ofNode }, ...base }, shared: inPod },
  {
    kind: 'exec on the node',
    event: { process_exec: { process: ofNode }, ...base },
    shared: { 'process.executable': '/usr/bin/cat' },
  },
  {
    kind: 'exit',
    event: { process_exit: { process, parent: ofNode, signal: 'SIGKILL', status: 137 }, ...base },
    shared: inPod,
  },
  {
    kind: 'kprobe of our policy',
    event: {
      process_kprobe: {
        process,
        parent: ofNode,
        function_name: 'security_file_open',
        args: [{ file_arg: { path: '/etc/shadow', permission: '-rw-r-----' } }],
        action: 'KPROBE_ACTION_POST',
        policy_name: policy,
        return_action: 'KPROBE_ACTION_POST',
        message: 'Credential file opened in a pod',
        tags: ['T1552.001', 'Warning'],
      },
      ...base,
    },
    shared: {
      ...inPod,
      'rule.name': policy,
      'threat.technique.id': ['T1552.001'],
      'log.level': 'Warning',
      'event.severity': 13,
    },
  },
  {
    kind: 'kprobe of a policy without tags, with arguments of many types',
    event: {
      process_kprobe: {
        process,
        function_name: '__x64_sys_setns',
        args: [
          { int_arg: 3 },
          { size_arg: '18446744073709551615' },
          { bytes_arg: 'AAEC' },
          { sock_arg: { sport: 443 } },
        ],
        action: 'KPROBE_ACTION_POST',
        policy_name: 'mine',
      },
      ...base,
    },
    shared: { ...inPod, 'rule.name': 'mine' },
  },
  {
    kind: 'tracepoint of our policy',
    event: {
      process_tracepoint: {
        process,
        subsys: 'sched',
        event: 'sched_process_exec',
        args: [{ string_arg: '/bin/sh' }],
        policy_name: 'shell-execution-security-system-main-5e6f7a8b',
        action: 'KPROBE_ACTION_POST',
        message: 'Shell executed in a pod',
        tags: ['T1059.004', 'Notice'],
      },
      ...base,
    },
    shared: {
      ...inPod,
      'rule.name': 'shell-execution-security-system-main-5e6f7a8b',
      'threat.technique.id': ['T1059.004'],
      'log.level': 'Notice',
      'event.severity': 10,
    },
  },
  {
    kind: 'lsm hook',
    event: {
      process_lsm: {
        process,
        function_name: 'bprm_check_security',
        policy_name: 'lsm',
        tags: ['T1611', 'mine'],
        args: [],
      },
      ...base,
    },
    shared: { ...inPod, 'rule.name': 'lsm', 'threat.technique.id': ['T1611'] },
  },
  {
    kind: 'uprobe',
    event: { process_uprobe: { process, path: '/bin/bash', symbol: 'readline', policy_name: 'readline' }, ...base },
    shared: { ...inPod, 'rule.name': 'readline' },
  },
  {
    kind: 'loader',
    event: { process_loader: { process, path: '/usr/lib/libc.so.6', buildid: 'AbCd' }, ...base },
    shared: inPod,
  },
  {
    kind: 'events that were left out',
    event: { rate_limit_info: { number_of_dropped_process_events: '1024' }, ...base },
    shared: {},
  },
];
