/** The gateways: take events from the nodes, and write them to the store. All that they need is their own, so they run restricted. */
import {
  Deployment,
  type KubeObject,
  manifest,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
  StatefulSet,
} from '@keelson/schema';
import type { PodSpec, Volume, VolumeMount } from 'kubernetes-types/core/v1.js';
import type { FeatureContext } from '../../feature.ts';
import { GATEWAY, GATEWAY_CONFIG, GATEWAY_PORT, GATEWAY_TLS, NODE_COLLECTOR } from '../../names.ts';
import type { Store } from '../../store.ts';
import { API_KEY_FILE, CA_FILE, LOGIN_DIRECTORY } from '../../telemetry/exporter.ts';
import { DRAIN_SECONDS } from '../../telemetry/gateway.ts';
import { RELAY_CA_FILE, RELAY_STATUS_PORT } from '../../telemetry/relay.ts';
import { collectorContainer, configVolume, tlsVolume } from './collector.ts';
import type { Queue } from './config.ts';
import { podsOf } from './labels.ts';
import { RELAY_CA, relayContainer } from './relay.ts';

/** The user of the image. */
const USER = 10001;

/** The volumes with files that are watched: credentials by the collector, certificates by the relay. */
export const REREAD = ['login', 'api-key', RELAY_CA];

export interface Gateway {
  readonly image: string;
  /** Image of the relay; without one, the collector writes to the store itself. */
  readonly relay: string | undefined;
  readonly replicas: number;
  readonly queue: Queue;
  readonly store: Store;
}

/** Deployment or StatefulSet and Service, who may talk to it, and how many of it may be away at once. */
export function gateway(settings: Gateway, context: Pick<FeatureContext, 'agent'>): readonly KubeObject[] {
  return [
    settings.queue.persistent ? statefulSet(settings, context) : deployment(settings, context),
    service(context),
    networkPolicy(settings, context),
    ...(settings.replicas > 1 ? [disruptionBudget(context)] : []),
  ];
}

/** What waits goes with its pod: for clusters that provide no volumes. */
function deployment(settings: Gateway, context: Pick<FeatureContext, 'agent'>): Deployment {
  const pod = podOf(settings, context);
  const storage: Volume = { name: 'storage', emptyDir: { sizeLimit: settings.queue.size } };
  return manifest(
    Deployment,
    { name: GATEWAY },
    {
      spec: {
        replicas: settings.replicas,
        selector: {},
        // The old one goes when the new one takes requests.
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template: { spec: { ...pod, volumes: [...(pod.volumes ?? []), storage] } },
      },
    },
  );
}

/** What waits is on a volume, and a pod that comes back finds it. */
function statefulSet(settings: Gateway, context: Pick<FeatureContext, 'agent'>): StatefulSet {
  const { replicas, queue } = settings;
  const { storageClassName, size } = queue;
  return manifest(
    StatefulSet,
    { name: GATEWAY },
    {
      spec: {
        replicas,
        // Nobody asks for one gateway by its name.
        serviceName: GATEWAY,
        selector: {},
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'RollingUpdate' },
        // What waits in a gateway too many waits for it to come back. With the agent all goes.
        persistentVolumeClaimRetentionPolicy: { whenScaled: 'Retain', whenDeleted: 'Delete' },
        template: { spec: podOf(settings, context) },
        volumeClaimTemplates: [
          {
            metadata: { name: 'storage' },
            spec: {
              accessModes: ['ReadWriteOnce'],
              ...(storageClassName === undefined ? {} : { storageClassName }),
              resources: { requests: { storage: size } },
            },
          },
        ],
      },
    },
  );
}

/** The pods of both, but for the volume `storage`. */
function podOf({ image, relay, store }: Gateway, context: Pick<FeatureContext, 'agent'>): PodSpec {
  const access = storeAccess(store, relay !== undefined);
  const container = collectorContainer({
    name: GATEWAY,
    image,
    memory: 512,
    requests: { cpu: '100m', memory: '256Mi' },
    ports: [{ name: 'otlp-grpc', containerPort: GATEWAY_PORT, protocol: 'TCP' }],
    mounts: access.mounts,
    securityContext: { runAsNonRoot: true, runAsUser: USER, runAsGroup: USER },
    // Told to end, it would leave what it has on disk, which may go with it: so it is told later.
    lifecycle: { preStop: { sleep: { seconds: DRAIN_SECONDS } } },
  });
  const labelSelector = { matchLabels: podsOf(GATEWAY, context) };
  return {
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    securityContext: { fsGroup: USER },
    terminationGracePeriodSeconds: DRAIN_SECONDS + 30,
    topologySpreadConstraints: ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
      maxSkew: 1,
      topologyKey,
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector,
    })),
    ...(relay === undefined ? {} : { initContainers: [relayContainer(relay, store)] }),
    containers: [container],
    volumes: [configVolume(GATEWAY_CONFIG), tlsVolume(GATEWAY_TLS), ...access.volumes],
  };
}

interface StoreAccess {
  /** Those of the collector. */
  readonly mounts: readonly VolumeMount[];
  readonly volumes: readonly Volume[];
}

/** What the collector and the relay take from Secrets, as files: see telemetry/exporter.ts and telemetry/relay.ts. */
function storeAccess({ auth, tls }: Store, isRelayed: boolean): StoreAccess {
  const parts = [
    ...(auth?.secretRef === undefined
      ? []
      : [
          secretFiles('login', auth.secretRef.name, {
            username: `${LOGIN_DIRECTORY}/username`,
            password: `${LOGIN_DIRECTORY}/password`,
          }),
        ]),
    ...(auth?.apiKeySecretRef === undefined
      ? []
      : [secretFiles('api-key', auth.apiKeySecretRef.name, { [auth.apiKeySecretRef.key]: API_KEY_FILE })]),
  ];
  const authorities =
    tls?.caSecretRef === undefined
      ? []
      : isRelayed
        ? [secretFiles(RELAY_CA, tls.caSecretRef.name, { [tls.caSecretRef.key]: RELAY_CA_FILE })]
        : [secretFiles('ca', tls.caSecretRef.name, { [tls.caSecretRef.key]: CA_FILE })];
  const own = isRelayed ? parts : [...parts, ...authorities];
  return {
    mounts: own.map(({ mount }) => mount),
    volumes: [...parts, ...authorities].map(({ volume }) => volume),
  };
}

/** Keys of a Secret as files of one folder; only those that are needed, and for the user of the gateway only. */
function secretFiles(name: string, secretName: string, files: Readonly<Record<string, string>>) {
  const items = Object.entries(files).map(([key, path]) => ({ key, path: path.slice(path.lastIndexOf('/') + 1) }));
  const [file = ''] = Object.values(files);
  return {
    mount: { name, mountPath: file.slice(0, file.lastIndexOf('/')), readOnly: true },
    volume: { name, secret: { secretName, items, defaultMode: 0o440 } },
  };
}

function service(context: Pick<FeatureContext, 'agent'>): Service {
  return manifest(
    Service,
    { name: GATEWAY },
    {
      spec: {
        selector: podsOf(GATEWAY, context),
        ports: [
          { name: 'otlp-grpc', port: GATEWAY_PORT, targetPort: 'otlp-grpc', protocol: 'TCP', appProtocol: 'grpc' },
        ],
      },
    },
  );
}

/** Events come from the collectors of this agent and from nobody else: who could send others could hide his own among them. */
function networkPolicy({ relay }: Gateway, context: Pick<FeatureContext, 'agent'>): NetworkPolicy {
  const open = ['metrics', 'health', ...(relay === undefined ? [] : [RELAY_STATUS_PORT])];
  return manifest(
    NetworkPolicy,
    { name: GATEWAY },
    {
      spec: {
        podSelector: { matchLabels: podsOf(GATEWAY, context) },
        policyTypes: ['Ingress'],
        ingress: [
          {
            from: [{ podSelector: { matchLabels: podsOf(NODE_COLLECTOR, context) } }],
            ports: [{ port: 'otlp-grpc', protocol: 'TCP' }],
          },
          // Where Prometheus runs is not known here, and figures are no secret.
          { ports: open.map((port) => ({ port, protocol: 'TCP' })) },
        ],
      },
    },
  );
}

function disruptionBudget(context: Pick<FeatureContext, 'agent'>): PodDisruptionBudget {
  return manifest(
    PodDisruptionBudget,
    { name: GATEWAY },
    { spec: { maxUnavailable: 1, selector: { matchLabels: podsOf(GATEWAY, context) } } },
  );
}
