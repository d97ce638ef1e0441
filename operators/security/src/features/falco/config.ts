/** What a user may say about Falco: the schema of its config, and what a schema cannot say. */
import { posix } from 'node:path';
import { int32, type Problem, type Static, Type } from '@keelson/schema';
import { checkRuleFiles } from './rule-files.ts';

export const falcoConfig = Type.Object({
  driver: Type.Enum(['modern_ebpf', 'kmod', 'ebpf'], {
    default: 'modern_ebpf',
    description:
      'How Falco sees system calls. modern_ebpf: nothing to build, needs kernel 5.8. kmod: a kernel module, for older ones. ' +
      'ebpf: the old probe; Falco 0.44 dropped it, so the last version that has it is installed.',
  }),
  privileged: Type.Boolean({
    default: false,
    description:
      'Run modern_ebpf privileged instead of with four capabilities: where the container runtime does not know CAP_BPF and ' +
      'CAP_PERFMON, or forbids them. The other drivers are always privileged.',
  }),
  image: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: 'Another image of Falco, taken as it is.' }),
  ),
  loaderImage: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description:
        'Another image of the driver loader (kmod, ebpf), taken as it is. Its version must be that of Falco.',
    }),
  ),
  rules: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      maxProperties: 100,
      description:
        'Files of rules by name (mine.yaml), each as YAML text or as a list; loaded by name, after the rules that come with Falco ' +
        'and those for techniques, which they may override.',
      examples: [
        {
          'mine.yaml': [
            {
              rule: 'Schedule Cron Jobs',
              exceptions: [{ name: 'known', values: [['registry.example.com/backup', 'crontab']] }],
              override: { exceptions: 'append' },
            },
          ],
        },
      ],
    }),
  ),
  priority: Type.Enum(['emergency', 'alert', 'critical', 'error', 'warning', 'notice', 'informational', 'debug'], {
    default: 'debug',
    description: 'The least priority: rules below it are not loaded.',
  }),
  ignoreNamespaces: Type.Array(Type.String({ minLength: 1, maxLength: 63 }), {
    default: ['kube-system'],
    maxItems: 100,
    description:
      'Namespaces that the rules for techniques leave out: network and storage agents mount and enter namespaces all day. ' +
      'The rules that come with Falco look everywhere.',
  }),
  criSockets: Type.Array(Type.String({ pattern: '^/[^:]+/[^/:]+$', maxLength: 255 }), {
    default: ['/run/containerd/containerd.sock', '/run/crio/crio.sock', '/run/k3s/containerd/containerd.sock'],
    minItems: 1,
    maxItems: 10,
    description: 'Where the container runtime of a node may listen: it knows the pod of a process.',
  }),
  log: Type.Object(
    {
      maxSizeMB: int32({ default: 50, minimum: 1, maximum: 10_000, description: 'A larger file is rotated.' }),
      maxFiles: int32({ default: 5, minimum: 1, maximum: 100, description: 'How many rotated files are kept.' }),
    },
    { default: {}, description: 'The file of events on every node.' },
  ),
});

export type FalcoConfig = Static<typeof falcoConfig>;

/** Everything that a schema cannot say of it. */
export function checkConfig({ rules = {}, criSockets }: FalcoConfig): readonly Problem[] {
  return [
    ...checkRuleFiles(rules, 'rules'),
    ...criSockets.flatMap((socket, index) =>
      posix.normalize(socket) === socket
        ? []
        : [{ path: `criSockets[${index}]`, message: `must be a path without '//', '.' and '..', got '${socket}'` }],
    ),
  ];
}
