/** Workloads for tests: one of each kind, bare or with something in every place that an override can change. */
import type { KubeObject } from '@keelson/schema';
import type { PodSpec } from 'kubernetes-types/core/v1.js';

export const kinds = ['DaemonSet', 'Deployment', 'StatefulSet', 'CronJob'] as const;
export type WorkloadKind = (typeof kinds)[number];

/** A container with its image and nothing else. */
export const barePod: PodSpec = { containers: [{ name: 'falco', image: 'falco:1' }] };

/** Something in every place. */
export const fullPod: PodSpec = {
  containers: [
    {
      name: 'falco',
      image: 'falco:1',
      args: ['--quiet', '--cri'],
      env: [
        { name: 'LEVEL', value: 'info' },
        { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      ],
      ports: [
        { name: 'dns', containerPort: 53, protocol: 'UDP' },
        { name: 'http', containerPort: 8080 },
      ],
      resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '1Gi' } },
      livenessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 5 },
      lifecycle: { preStop: { exec: { command: ['sleep', '1'] } } },
      securityContext: {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'], add: ['BPF'] },
        seccompProfile: { type: 'Localhost', localhostProfile: 'falco.json' },
      },
      volumeMounts: [
        { name: 'etc', mountPath: '/etc/falco', readOnly: true },
        { name: 'proc', mountPath: '/host/proc' },
      ],
    },
    { name: 'reloader', image: 'reloader:1', volumeMounts: [{ name: 'etc', mountPath: '/etc/falco' }] },
  ],
  initContainers: [
    { name: 'driver', image: 'driver:1', env: [{ name: 'A', value: 'a' }] },
    { name: 'rules', image: 'rules:1' },
  ],
  volumes: [
    { name: 'etc', configMap: { name: 'falco', items: [{ key: 'falco.yaml', path: 'falco.yaml' }] } },
    { name: 'proc', hostPath: { path: '/proc' } },
  ],
  tolerations: [
    { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
    { key: 'gpu', operator: 'Equal', value: 'a', effect: 'NoSchedule' },
  ],
  nodeSelector: { 'kubernetes.io/os': 'linux', pool: 'a' },
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
      },
    },
  },
  imagePullSecrets: [{ name: 'mirror' }, { name: 'other' }],
  hostAliases: [{ ip: '10.0.0.1', hostnames: ['a', 'b'] }],
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { app: 'falco' } },
    },
  ],
  dnsConfig: { nameservers: ['10.0.0.10'], options: [{ name: 'ndots', value: '1' }] },
  securityContext: { runAsNonRoot: false, supplementalGroups: [1, 2], sysctls: [] },
  hostPID: true,
  priorityClassName: 'system-node-critical',
  terminationGracePeriodSeconds: 20,
};

/** A workload of a kind, as it comes from dressing: selected by `app`, with a label and annotations of the operator's own. */
export function workload(kind: WorkloadKind, pod: PodSpec = barePod, name = 'falco'): KubeObject {
  const template = {
    metadata: {
      labels: { app: name, tier: 'node', 'security.ctem.io/feature': 'falco' },
      annotations: { note: 'one', 'security.ctem.io/config-checksum': '0123' },
    },
    spec: kind === 'CronJob' ? { restartPolicy: 'Never', ...pod } : pod,
  };
  const metadata = { name };
  const selector = { matchLabels: { app: name } };
  if (kind === 'CronJob')
    return {
      apiVersion: 'batch/v1',
      kind,
      metadata,
      spec: { schedule: '@daily', jobTemplate: { spec: { template } } },
    };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata,
    spec: { selector, template, ...(kind === 'StatefulSet' ? { serviceName: name } : {}) },
  };
}

/** Freezes a value and everything in it, so that whoever changes it is found out. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
