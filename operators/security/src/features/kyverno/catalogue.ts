/**
 * The policies, in CEL about a pod. Kyverno makes those for Deployments, CronJobs and the like out of them by writing `object.spec.template.spec`
 * for `object.spec`, so expressions speak of the pod in no other way. After the Pod Security Standards
 * (https://kubernetes.io/docs/concepts/security/pod-security-standards), and what makes a cluster hard to run and to examine.
 */

export interface PolicyRule {
  readonly title: string;
  readonly category: 'Pod Security (Baseline)' | 'Pod Security (Restricted)' | 'Good Practice';
  readonly severity: 'low' | 'medium' | 'high' | 'critical';
  readonly description: string;
  /** True for a pod that is in order. */
  readonly expression: string;
  /** What to do about one that is not. */
  readonly message: string;
}

/** Variables that the expressions may use. */
export const variables = [
  {
    name: 'containers',
    expression:
      'object.spec.containers + object.spec.?initContainers.orValue([]) + object.spec.?ephemeralContainers.orValue([])',
  },
  {
    // Ephemeral containers cannot ask for resources.
    name: 'lasting',
    expression: 'object.spec.containers + object.spec.?initContainers.orValue([])',
  },
  {
    // What is on its way out must not be held up: its finalizers are removed by updates. Written so that it stays the object's own.
    name: 'isGoing',
    expression: 'object.?metadata.?deletionTimestamp.hasValue()',
  },
] as const;

/** Capabilities that a container runtime gives by itself: to add one of them adds nothing. */
const harmless = [
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD'],
  ...['NET_BIND_SERVICE', 'SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
];

export const catalogue = {
  'disallow-privileged': {
    title: 'Disallow privileged containers',
    category: 'Pod Security (Baseline)',
    severity: 'critical',
    description: 'A privileged container is root on its node: one step to the whole cluster (T1611).',
    expression: 'variables.containers.all(c, !c.?securityContext.?privileged.orValue(false))',
    message: 'securityContext.privileged must not be true: add the single capabilities that are needed',
  },
  'disallow-host-namespaces': {
    title: 'Disallow namespaces of the host',
    category: 'Pod Security (Baseline)',
    severity: 'high',
    description:
      'Sharing processes, network or IPC with the node lets a pod watch and reach what is not its own (T1611).',
    expression: ['hostPID', 'hostIPC', 'hostNetwork']
      .map((field) => `!object.spec.?${field}.orValue(false)`)
      .join(' && '),
    message: 'hostPID, hostIPC and hostNetwork must not be true: use a Service or a port of the pod',
  },
  'disallow-host-path': {
    title: 'Disallow files of the host',
    category: 'Pod Security (Baseline)',
    severity: 'high',
    description:
      'A mounted path of the node gives away its files, and with the socket of the runtime the node itself (T1611, T1552.001).',
    expression: 'object.spec.?volumes.orValue([]).all(v, !has(v.hostPath))',
    message: 'volumes must not have a hostPath: use a PersistentVolumeClaim, a ConfigMap or an emptyDir',
  },
  'disallow-capabilities': {
    title: 'Disallow added capabilities',
    category: 'Pod Security (Baseline)',
    severity: 'high',
    description: 'Capabilities such as SYS_ADMIN or SYS_PTRACE are ways out of the container (T1611).',
    expression:
      'variables.containers.all(c, c.?securityContext.?capabilities.?add.orValue([]).all(name, ' +
      `name in [${harmless.map((name) => `'${name}'`).join(', ')}]))`,
    message: `securityContext.capabilities.add must hold none but ${harmless.join(', ')}`,
  },
  'disallow-privilege-escalation': {
    title: 'Disallow privilege escalation',
    category: 'Pod Security (Restricted)',
    severity: 'medium',
    description: 'Without it a suid program cannot make a process more than it was (T1548.001).',
    expression: 'variables.containers.all(c, c.?securityContext.?allowPrivilegeEscalation.orValue(true) == false)',
    message: 'securityContext.allowPrivilegeEscalation must be false in every container',
  },
  'require-non-root': {
    title: 'Require another user than root',
    category: 'Pod Security (Restricted)',
    severity: 'medium',
    description: 'Root in a container is root outside of it as soon as it finds a way out (T1611).',
    expression:
      'variables.containers.all(c, ' +
      'c.?securityContext.?runAsNonRoot.orValue(object.spec.?securityContext.?runAsNonRoot.orValue(false)) && ' +
      'c.?securityContext.?runAsUser.orValue(object.spec.?securityContext.?runAsUser.orValue(1)) != 0)',
    message: 'securityContext.runAsNonRoot must be true in the pod or in every container, and runAsUser not 0',
  },
  'disallow-latest-tag': {
    title: 'Disallow images without a version',
    category: 'Good Practice',
    severity: 'medium',
    description: 'What latest was yesterday nobody knows: no rollback, and no telling which vulnerabilities ran.',
    expression:
      "variables.containers.all(c, c.image.contains('@') || (c.image.matches(':[^/]+$') && !c.image.endsWith(':latest')))",
    message: 'images must have a tag other than latest, or a digest',
  },
  'require-resources': {
    title: 'Require requests and a limit of memory',
    category: 'Good Practice',
    severity: 'low',
    description:
      'A container without them may starve its neighbours, the tools that guard the node among them (T1496).',
    expression:
      'variables.lasting.all(c, c.?resources.?requests.?cpu.hasValue() && ' +
      'c.?resources.?requests.?memory.hasValue() && c.?resources.?limits.?memory.hasValue())',
    message: 'every container needs resources.requests.cpu, resources.requests.memory and resources.limits.memory',
  },
} as const satisfies Record<string, PolicyRule>;

export type PolicyName = keyof typeof catalogue;

/** In the order of the catalogue. */
export const policyNames = Object.keys(catalogue) as PolicyName[];
