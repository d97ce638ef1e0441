/**
 * Falco: watches system calls on every node and writes a line for each that a rule matches. Installs a DaemonSet and its
 * configuration; the rules are those that Falco ships, ours for the techniques of technique-rules.ts, and the user's.
 */
import { ConfigMap, manifest, Node } from '@keelson/schema';
import { stringify } from 'yaml';
import { defineFeature } from '../../feature.ts';
import { syslogLevels } from '../../telemetry/source.ts';
import { nodeAgent } from '../../workload/node-agent.ts';
import { checkConfig, falcoConfig } from './config.ts';
import { falcoYaml } from './falco-yaml.ts';
import { FALCO_VERSION } from './images.ts';
import { CONFIG, RULES } from './names.ts';
import { EVENTS_FILE, paths } from './paths.ts';
import { falcoPod } from './pod.ts';
import { hasRules, ruleTexts } from './rule-files.ts';
import { techniqueRules } from './technique-rules.ts';

export const falco = defineFeature({
  id: 'falco',
  title: 'Falco',
  description: 'Detects attacks on every node by the system calls of processes, with rules.',
  priority: 100,
  version: FALCO_VERSION,
  privileges: [
    {
      what: 'capabilities BPF, PERFMON, SYS_RESOURCE, SYS_PTRACE (driver modern_ebpf)',
      why: 'load the probe and lift the limit of its buffers; read what a process runs and has open',
    },
    {
      what: 'privileged (drivers kmod and ebpf, or config.privileged)',
      why: 'load a module, or a probe on an old kernel',
    },
    {
      what: 'AppArmor unconfined, SELinux spc_t',
      why: 'the default profiles forbid to look at processes of the node, to load probes and to write to its logs',
    },
    { what: 'hostPID', why: 'the kernel lists the processes that were there before Falco in this namespace only' },
    { what: '/proc read-only', why: 'processes, their arguments and open files' },
    { what: '/etc read-only', why: 'names of users and groups' },
    { what: '/sys/kernel read-only (not kmod)', why: 'tracepoints and types of the kernel' },
    { what: '/dev read-only (kmod)', why: 'the ring buffers of the module' },
    { what: '/boot, /usr read-only, /lib/modules (driver loader of kmod and ebpf)', why: 'find or build the driver' },
    {
      what: 'folders of the sockets in config.criSockets',
      why: 'which pod a process belongs to; who holds the socket rules the node. A folder that a node lacks is made, and stays empty',
    },
    { what: '/var/log/security/falco', why: 'writes and rotates its events' },
  ],
  rights: [
    {
      kind: Node,
      verbs: ['get'],
      why: 'for plugins that users load: Falco itself asks nothing, and its pods get no token',
    },
  ],
  exclusive: `both would write ${EVENTS_FILE}, and each event would count twice`,
  config: falcoConfig,
  check: checkConfig,
  contribute: (config, context) => [
    manifest(
      ConfigMap,
      { name: CONFIG },
      {
        data: {
          [paths.configFile]: toYaml(falcoYaml(config)),
          [paths.techniqueRules]: toYaml(techniqueRules(config.ignoreNamespaces)),
        },
      },
    ),
    ...(hasRules(config) ? [manifest(ConfigMap, { name: RULES }, { data: ruleTexts(config.rules ?? {}) })] : []),
    nodeAgent('falco', falcoPod(config, context)),
  ],
  telemetry: () => ({
    tool: 'falco',
    path: EVENTS_FILE,
    index: 'events',
    time: { field: 'time', layout: '2006-01-02T15:04:05.999999999Z07:00', layoutType: 'gotime' },
    severity: { fields: ['priority'], levels: syslogLevels },
    shared: {
      'rule.name': ['rule'],
      'process.executable': ['output_fields["proc.exepath"]'],
      'kubernetes.namespace': ['output_fields["k8s.ns.name"]'],
      'kubernetes.pod.name': ['output_fields["k8s.pod.name"]'],
      'kubernetes.container.name': ['output_fields["container.name"]'],
      'container.id': ['output_fields["container.id"]'],
    },
    // A process of the node itself is in the container `host`.
    nothing: ['host', '<NA>'],
    techniques: ['tags'],
  }),
});

function toYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
