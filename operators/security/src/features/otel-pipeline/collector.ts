/** The container of a collector, on nodes and as gateway: the same program with another configuration. */
import type {
  Container,
  ContainerPort,
  EnvVar,
  Lifecycle,
  SecurityContext,
  Volume,
  VolumeMount,
} from 'kubernetes-types/core/v1.js';
import { CONFIG_FILE } from '../../names.ts';
import { CONFIG_DIRECTORY, HEALTH_PORT, METRICS_PORT, STORAGE_DIRECTORY } from '../../telemetry/collector.ts';
import { TLS_DIRECTORY } from '../../telemetry/tls.ts';

export interface CollectorContainer {
  readonly name: string;
  readonly image: string;
  /** MiB at which the kernel ends it. */
  readonly memory: number;
  readonly requests: { readonly cpu: string; readonly memory: string };
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly ports?: readonly ContainerPort[];
  readonly mounts?: readonly VolumeMount[];
  readonly securityContext: SecurityContext;
  readonly lifecycle?: Lifecycle;
}

/** The container; its pod must have the volumes `config`, `tls` and `storage`. */
export function collectorContainer(collector: CollectorContainer): Container {
  const { name, image, memory, requests, args = [], env = [], ports = [], mounts = [], securityContext } = collector;
  const { lifecycle } = collector;
  return {
    name,
    image,
    args: [`--config=${CONFIG_DIRECTORY}/${CONFIG_FILE}`, ...args],
    env: [
      // The limit that the container really has, an override included: left out, Go would collect garbage only after the kernel has ended
      // it. Some room is left anyway, because the collector takes nothing in before (`memoryLimiter`).
      { name: 'GOMEMLIMIT', valueFrom: { resourceFieldRef: { resource: 'limits.memory' } } },
      ...env,
    ],
    ports: [
      ...ports,
      { name: 'metrics', containerPort: METRICS_PORT, protocol: 'TCP' },
      { name: 'health', containerPort: HEALTH_PORT, protocol: 'TCP' },
    ],
    // No limit of CPU: a burst of events should be read, and shares of it are what requests are for.
    resources: { requests: { ...requests }, limits: { memory: `${memory}Mi` } },
    // What was being sent is put back into the queue first, however long that takes: until then it is on no disk.
    startupProbe: { ...probe, periodSeconds: 5, failureThreshold: 60 },
    livenessProbe: { ...probe, periodSeconds: 10, failureThreshold: 6 },
    readinessProbe: { ...probe, periodSeconds: 5 },
    ...(lifecycle === undefined ? {} : { lifecycle }),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
      ...securityContext,
    },
    volumeMounts: [
      { name: 'config', mountPath: CONFIG_DIRECTORY, readOnly: true },
      { name: 'tls', mountPath: TLS_DIRECTORY, readOnly: true },
      { name: 'storage', mountPath: STORAGE_DIRECTORY },
      ...mounts,
    ],
  };
}

const probe = { httpGet: { path: '/', port: 'health' }, timeoutSeconds: 3 };

/** The volume `config`. */
export function configVolume(configMap: string): Volume {
  return { name: 'config', configMap: { name: configMap } };
}

/** The volume `tls`: certificate, key and bundle, whole or not at all. Readable for the group of the pod only. */
export function tlsVolume(secretName: string): Volume {
  const items = ['tls.crt', 'tls.key', 'ca.crt'].map((key) => ({ key, path: key }));
  return { name: 'tls', secret: { secretName, items, defaultMode: 0o440 } };
}
