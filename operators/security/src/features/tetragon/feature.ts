/**
 * Tetragon: hooks the kernel of every node and writes what processes do there, and what policies look for. Installs a DaemonSet, its
 * configuration, and the policies of policies.ts and of the user as objects of kind TracingPolicy.
 */
import { ConfigMap, CustomResourceDefinition, type Kind, type KubeObject, manifest, Node, Pod } from '@keelson/schema';
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import { defineFeature, type FeatureContext } from '../../feature.ts';
import { nodeAgent } from '../../workload/node-agent.ts';
import { checkConfig, type TetragonConfig, tetragonConfig } from './config.ts';
import { eventSource } from './events.ts';
import { builtInPolicies } from './policies.ts';
import { EVENTS_FILE, EVENTS_FOLDER, HEALTH_PORT, METRICS_PORT, PROC, RUN, settings } from './settings.ts';
import { policyName, TracingPolicy, TracingPolicyNamespaced } from './tracing-policy.ts';

const VERSION = 'v1.7.1';
const IMAGE = `quay.io/cilium/tetragon:${VERSION}`;
const CONFIG = 'tetragon-config';
const SETTINGS = '/etc/tetragon/tetragon.conf.d';

/** Label on policies: the technique that they look for. */
const TECHNIQUE_LABEL = 'security.ctem.io/technique';
const DESCRIPTION = 'security.ctem.io/description';

const follow = ['list', 'watch'] as const;

/** Too large for what kubectl keeps of an object that it applies itself. */
const remedy = ({ plural }: Kind): string =>
  `install the CRDs of Tetragon: kubectl apply --server-side -f https://raw.githubusercontent.com/cilium/tetragon/${VERSION}/install/kubernetes/tetragon/crds-yaml/cilium.io_${plural}.yaml`;

export const tetragon = defineFeature({
  id: 'tetragon',
  title: 'Tetragon',
  description: 'Sees in the kernel of every node which programs run and which files, mounts and namespaces they touch.',
  priority: 100,
  version: VERSION,
  privileges: [
    {
      what: 'privileged',
      why: 'loads programs of every kind into the kernel, and shares the BPF file system with the node',
    },
    { what: 'hostNetwork', why: 'upstream demands it for seeing the processes of the node' },
    { what: '/sys/fs/bpf', why: 'where its programs and maps are pinned' },
    { what: '/proc read-only', why: 'the processes that were there before it' },
    { what: '/var/log/security/tetragon', why: 'writes and rotates its events' },
  ],
  kinds: [TracingPolicy],
  requires: [
    { kind: TracingPolicy, remedy: remedy(TracingPolicy) },
    { kind: TracingPolicyNamespaced, remedy: remedy(TracingPolicyNamespaced) },
  ],
  rights: [
    { kind: Pod, verbs: [...follow], why: 'tells the pod of a process' },
    { kind: Node, verbs: [...follow], why: 'puts the labels of its node into events' },
    { kind: TracingPolicy, verbs: [...follow], why: 'loads the policies' },
    { kind: TracingPolicyNamespaced, verbs: [...follow], why: 'loads the policies of namespaces' },
    { kind: CustomResourceDefinition, verbs: [...follow], why: 'waits for the kinds of policies' },
  ],
  exclusive: `both would hook the same kernel, take the same ports and write ${EVENTS_FILE}`,
  config: tetragonConfig,
  check: checkConfig,
  contribute: (config, context) => [
    manifest(ConfigMap, { name: CONFIG }, { data: settings(config, context.cluster) }),
    nodeAgent('tetragon', pod(config, context)),
    ...policies(config.policies, context),
  ],
  telemetry: () => eventSource,
});

function policies({ builtIn, own = {} }: TetragonConfig['policies'], context: FeatureContext): readonly KubeObject[] {
  return [
    ...builtIn.map((name) => {
      const { technique, description, spec } = builtInPolicies[name];
      const labels = { [TECHNIQUE_LABEL]: technique };
      return manifest(
        TracingPolicy,
        { name: policyName(name, context), labels, annotations: { [DESCRIPTION]: description } },
        { spec },
      );
    }),
    ...Object.entries(own).map(([name, spec]) =>
      manifest(TracingPolicy, { name: policyName(name, context) }, { spec }),
    ),
  ];
}

function pod({ image }: TetragonConfig, context: FeatureContext): PodSpec {
  const health = { grpc: { port: HEALTH_PORT, service: 'liveness' }, timeoutSeconds: 10 };
  return {
    hostNetwork: true,
    // The API server is known by its address; names are those of the node.
    dnsPolicy: 'Default',
    containers: [
      {
        name: 'tetragon',
        image: image ?? context.image(IMAGE),
        args: [`--config-dir=${SETTINGS}`],
        env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
        ports: [
          { name: 'health', containerPort: HEALTH_PORT },
          { name: 'metrics', containerPort: METRICS_PORT },
        ],
        // It is well once its own hooks are in the kernel: that takes as long as the kernel checks them.
        startupProbe: { ...health, periodSeconds: 5, failureThreshold: 60 },
        livenessProbe: { ...health, periodSeconds: 15 },
        readinessProbe: { ...health, periodSeconds: 15 },
        resources: { requests: { cpu: '50m', memory: '256Mi' }, limits: { cpu: '1', memory: '1Gi' } },
        securityContext: { privileged: true },
        terminationMessagePolicy: 'FallbackToLogsOnError',
        volumeMounts: [
          { name: 'config', mountPath: SETTINGS, readOnly: true },
          // Only a privileged container may hand a mount back to its node.
          { name: 'bpf', mountPath: '/sys/fs/bpf', mountPropagation: 'Bidirectional' },
          { name: 'proc', mountPath: PROC, readOnly: true },
          { name: 'run', mountPath: RUN },
          { name: 'events', mountPath: EVENTS_FOLDER },
        ],
      },
    ],
    volumes: [
      { name: 'config', configMap: { name: CONFIG } },
      { name: 'bpf', hostPath: { path: '/sys/fs/bpf', type: 'DirectoryOrCreate' } },
      { name: 'proc', hostPath: { path: '/proc', type: 'Directory' } },
      { name: 'run', emptyDir: {} },
      { name: 'events', hostPath: { path: EVENTS_FOLDER, type: 'DirectoryOrCreate' } },
    ],
  };
}
