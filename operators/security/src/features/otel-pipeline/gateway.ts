/** The gateways: take events from the nodes, and write them to the store. All that they need is their own, so they run restricted. */
import { Deployment, type KubeObject, manifest, NetworkPolicy, PodDisruptionBudget, Service } from '@keelson/schema';
import type { EnvVar, Volume, VolumeMount } from 'kubernetes-types/core/v1.js';
import type { FeatureContext } from '../../feature.ts';
import { GATEWAY, GATEWAY_CONFIG, GATEWAY_PORT, NODE_COLLECTOR } from '../../names.ts';
import type { Output } from '../../resource.ts';
import { API_KEY_VARIABLE, CA_FILE, LOGIN_DIRECTORY } from '../../telemetry/exporter.ts';
import { collectorContainer, configVolume } from './collector.ts';
import { podsOf } from './labels.ts';

/** The user of the image. */
const USER = 10001;
/** Room for the queues of all indices, and for tidying them up. */
const QUEUE_ROOM = '4Gi';

export interface Gateway {
  readonly image: string;
  readonly replicas: number;
  readonly output: Output;
}

/** Deployment and Service, who may talk to it, and how many of it may be away at once. */
export function gateway(settings: Gateway, context: Pick<FeatureContext, 'agent'>): readonly KubeObject[] {
  return [
    deployment(settings, context),
    service(context),
    networkPolicy(context),
    ...(settings.replicas > 1 ? [disruptionBudget(context)] : []),
  ];
}

function deployment({ image, replicas, output }: Gateway, context: Pick<FeatureContext, 'agent'>): Deployment {
  const store = storeAccess(output);
  const container = collectorContainer({
    name: GATEWAY,
    image,
    memory: 512,
    requests: { cpu: '100m', memory: '256Mi' },
    env: store.env,
    ports: [{ name: 'otlp-grpc', containerPort: GATEWAY_PORT, protocol: 'TCP' }],
    mounts: store.mounts,
    securityContext: { runAsNonRoot: true, runAsUser: USER, runAsGroup: USER },
  });
  const labelSelector = { matchLabels: podsOf(GATEWAY, context) };
  return manifest(
    Deployment,
    { name: GATEWAY },
    {
      spec: {
        replicas,
        selector: {},
        // The old one goes when the new one takes requests.
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template: {
          spec: {
            nodeSelector: { 'kubernetes.io/os': 'linux' },
            securityContext: { fsGroup: USER },
            // To write what it has: its queue goes with the pod.
            terminationGracePeriodSeconds: 60,
            topologySpreadConstraints: ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
              maxSkew: 1,
              topologyKey,
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector,
            })),
            containers: [container],
            volumes: [
              configVolume(GATEWAY_CONFIG),
              { name: 'storage', emptyDir: { sizeLimit: QUEUE_ROOM } },
              ...store.volumes,
            ],
          },
        },
      },
    },
  );
}

interface StoreAccess {
  readonly env: readonly EnvVar[];
  readonly mounts: readonly VolumeMount[];
  readonly volumes: readonly Volume[];
}

/** What the configuration of the gateway takes from Secrets: see telemetry/exporter.ts. */
function storeAccess({ elasticsearch: { auth, tls } }: Output): StoreAccess {
  const [ca, caFile] = splitPath(CA_FILE);
  return {
    env:
      auth?.apiKeySecretRef === undefined
        ? []
        : [{ name: API_KEY_VARIABLE, valueFrom: { secretKeyRef: { ...auth.apiKeySecretRef } } }],
    mounts: [
      ...(auth?.secretRef === undefined ? [] : [{ name: 'login', mountPath: LOGIN_DIRECTORY, readOnly: true }]),
      ...(tls?.caSecretRef === undefined ? [] : [{ name: 'ca', mountPath: ca, readOnly: true }]),
    ],
    volumes: [
      ...(auth?.secretRef === undefined
        ? []
        : [secretVolume('login', auth.secretRef.name, { username: 'username', password: 'password' })]),
      ...(tls?.caSecretRef === undefined
        ? []
        : [secretVolume('ca', tls.caSecretRef.name, { [tls.caSecretRef.key]: caFile })]),
    ],
  };
}

/** Only the keys that are needed, and for the user of the gateway only. */
function secretVolume(name: string, secretName: string, files: Readonly<Record<string, string>>): Volume {
  const items = Object.entries(files).map(([key, path]) => ({ key, path }));
  return { name, secret: { secretName, items, defaultMode: 0o440 } };
}

function splitPath(path: string): [directory: string, file: string] {
  const at = path.lastIndexOf('/');
  return [path.slice(0, at), path.slice(at + 1)];
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
function networkPolicy(context: Pick<FeatureContext, 'agent'>): NetworkPolicy {
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
          { ports: ['metrics', 'health'].map((port) => ({ port, protocol: 'TCP' })) },
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
