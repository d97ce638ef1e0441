/**
 * The policies for the techniques that a SecurityAgent promises to detect. Each hook carries the id of its technique and a severity as
 * tags, which Tetragon puts into the events, and filters in the kernel: what nobody asked for costs next to nothing.
 *
 * Programs are told by the path that they were started by: it stays `/bin/sh` where the file behind it is BusyBox.
 */

/** What is caught, by the name that users choose it by. */
export interface BuiltInPolicy {
  /** Of MITRE ATT&CK. */
  readonly technique: string;
  readonly description: string;
  readonly spec: object;
}

/** Pods only: on the node itself these things are its daily work. */
const inPods = { podSelector: {} };

const shells = ['/sh', '/bash', '/ash', '/dash', '/ksh', '/zsh', '/fish', '/csh', '/tcsh'];

/** What people look at files with, and carry them away by. */
const fileReaders = [
  ...shells,
  ...['awk', 'base64', 'busybox', 'cat', 'cp', 'curl', 'cut', 'dd', 'find', 'gawk', 'grep', 'gzip', 'head', 'hexdump'],
  ...['jq', 'less', 'mawk', 'more', 'nano', 'nc', 'od', 'perl', 'scp', 'sed', 'sort', 'strings', 'tac', 'tail', 'tar'],
  ...['tee', 'vi', 'vim', 'wget', 'xxd', 'zip'],
].map((name) => (name.startsWith('/') ? name : `/${name}`));

/**
 * The runtime mounts and enters namespaces too, already counted as a part of the pod, when it starts or enters a container. It runs from
 * a copy of itself.
 */
const runtimes = [
  '/proc/self/',
  '/dev/fd/',
  '/memfd:',
  '/usr/bin/runc',
  '/usr/sbin/runc',
  '/usr/local/bin/runc',
  '/usr/local/sbin/runc',
  '/usr/bin/crun',
  '/usr/local/bin/crun',
  '/usr/libexec/crio/',
];

/** How grave a finding is: that of Falco's rule for the same thing. */
type Level = 'Notice' | 'Warning';

/** Programs that are started by a path with one of these endings. */
function execution(technique: string, level: Level, message: string, endings: readonly string[]): object {
  return {
    subsystem: 'sched',
    event: 'sched_process_exec',
    message,
    tags: [technique, level],
    // After the four fields that all tracepoints have: the path as it was asked for.
    args: [{ index: 4, type: 'data_loc' }],
    selectors: [{ matchArgs: [{ index: 4, operator: 'Postfix', values: [...endings] }] }],
  };
}

/** A system call of a pod that changes its mounts or namespaces. Kernels that lack the call do without. */
function escapeCall(call: string, message: string, args: readonly object[], matchArgs?: readonly object[]): object {
  return {
    call,
    syscall: true,
    ignore: { callNotFound: true },
    message,
    tags: ['T1611', 'Notice'],
    args,
    selectors: [
      {
        matchBinaries: [{ operator: 'NotPrefix', values: runtimes }],
        ...(matchArgs === undefined ? {} : { matchArgs }),
      },
    ],
  };
}

const text = (index: number) => ({ index, type: 'string' });
const number = (index: number) => ({ index, type: 'int' });

/** Any of CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET of linux/sched.h, in one: a filter takes four values. */
const NEW_NAMESPACE = '0x7e020000';

/** The right to write, as security_file_permission is asked for it (MAY_WRITE of linux/fs.h). */
const MAY_WRITE = '2';

export const builtInPolicies = {
  'shell-execution': {
    technique: 'T1059.004',
    description: 'A shell is started in a pod.',
    spec: { ...inPods, tracepoints: [execution('T1059.004', 'Notice', 'Shell executed in a pod', shells)] },
  },
  'credential-access': {
    technique: 'T1552.001',
    description: 'Password hashes are opened in a pod, or tokens and keys by a program that people look at files with.',
    spec: {
      ...inPods,
      kprobes: [
        {
          call: 'security_file_open',
          syscall: false,
          message: 'Credential file opened in a pod',
          tags: ['T1552.001', 'Warning'],
          args: [{ index: 0, type: 'file' }],
          selectors: [
            {
              matchArgs: [
                {
                  index: 0,
                  operator: 'Equal',
                  values: ['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-'],
                },
              ],
            },
            {
              matchArgs: [
                {
                  index: 0,
                  operator: 'Prefix',
                  values: [
                    '/run/secrets/kubernetes.io/serviceaccount/',
                    '/var/run/secrets/kubernetes.io/serviceaccount/',
                    '/root/.ssh/id_',
                  ],
                },
              ],
              matchBinaries: [{ operator: 'Postfix', values: fileReaders }],
            },
            {
              matchArgs: [
                {
                  index: 0,
                  operator: 'Postfix',
                  values: [
                    '/.aws/credentials',
                    '/.azure/accessTokens.json',
                    '/.docker/config.json',
                    '/.git-credentials',
                    '/.kube/config',
                    '/.netrc',
                    '/.ssh/id_ecdsa',
                    '/.ssh/id_ed25519',
                    '/.ssh/id_rsa',
                    '/application_default_credentials.json',
                  ],
                },
              ],
              matchBinaries: [{ operator: 'Postfix', values: fileReaders }],
            },
          ],
        },
      ],
    },
  },
  'container-escape': {
    technique: 'T1611',
    description:
      'A pod mounts, enters or makes namespaces, or starts a program for it: also where seccomp refuses the call.',
    spec: {
      ...inPods,
      tracepoints: [
        execution('T1611', 'Warning', 'Tool of container escapes executed in a pod', [
          '/chroot',
          '/debugfs',
          '/mount',
          '/nsenter',
          '/pivot_root',
          '/unshare',
        ]),
      ],
      kprobes: [
        escapeCall('sys_mount', 'File system mounted in a pod', [text(0), text(1), text(2)]),
        escapeCall('sys_fsopen', 'File system opened for a mount in a pod', [text(0)]),
        escapeCall('sys_move_mount', 'Mount moved in a pod', [text(1), text(3)]),
        escapeCall('sys_pivot_root', 'Root changed in a pod', [text(0), text(1)]),
        escapeCall('sys_setns', 'Namespace entered in a pod', [number(0), number(1)]),
        escapeCall(
          'sys_unshare',
          'Namespace made in a pod',
          [number(0)],
          [{ index: 0, operator: 'Mask', values: [NEW_NAMESPACE] }],
        ),
      ],
    },
  },
  'cron-schedule': {
    technique: 'T1053.003',
    description: 'A cron job is put in place, in a pod or on a node.',
    spec: {
      tracepoints: [execution('T1053.003', 'Notice', 'crontab executed', ['/crontab'])],
      kprobes: [
        {
          call: 'security_file_permission',
          syscall: false,
          message: 'File of cron written',
          tags: ['T1053.003', 'Notice'],
          args: [{ index: 0, type: 'file' }, number(1)],
          selectors: [
            {
              matchArgs: [
                { index: 0, operator: 'Prefix', values: ['/etc/cron', '/var/spool/cron'] },
                { index: 1, operator: 'Mask', values: [MAY_WRITE] },
              ],
            },
          ],
        },
      ],
    },
  },
} as const satisfies Record<string, BuiltInPolicy>;

export type BuiltInPolicyName = keyof typeof builtInPolicies;

export const builtInPolicyNames = Object.keys(builtInPolicies) as BuiltInPolicyName[];
