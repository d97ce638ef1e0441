/** Objects as a cluster would show them, for tests: statuses are written the way kubelet, scheduler and controllers write them. */
import { createObjectSet } from '@keelson/runtime';
import {
  builtInKinds,
  CronJob,
  DaemonSet,
  Deployment,
  Event,
  type Kind,
  type KubeObject,
  manifest,
  Pod,
} from '@keelson/schema';
import type { Container, ContainerStatus, PodCondition, PodSpec, PodStatus } from 'kubernetes-types/core/v1.js';
import { FEATURE_LABEL } from '../../names.ts';
import type { AssessContext } from '../assessment.ts';
import { eventFields, podFields } from '../watched.ts';

export const NAMESPACE = 'security-system';
export const NOW = new Date('2026-03-01T12:00:00Z');

/** A time so many seconds before `NOW`. */
export function ago(seconds: number): string {
  return new Date(NOW.getTime() - seconds * 1000).toISOString().replace('.000Z', 'Z');
}

/** The context of an assessment of what is wanted; `live` is what exists, the workloads included. */
export function contextOf(
  title: string,
  wanted: readonly KubeObject[],
  live: readonly KubeObject[],
  more: Partial<AssessContext> = {},
): AssessContext {
  const kinds: readonly Kind[] = [...(more.kinds ?? []), ...builtInKinds];
  const withKinds = live.map((object) => {
    const kind = kinds.find((one) => one.kind === object.kind);
    if (kind === undefined) throw new Error(`the test has no kind ${object.kind}`);
    return { kind, object };
  });
  const watched = (one: { kind: Kind; object: KubeObject }) => ({
    kind: one.kind,
    // As the caches hold them: so that nothing is judged by a field that is not there in a cluster.
    object: projected(one.object, one.kind === Pod ? podFields : eventFields),
  });
  const isOwned = (one: { kind: Kind }): boolean => one.kind !== Pod && one.kind !== Event;
  return {
    title,
    wanted,
    owned: createObjectSet(withKinds.filter(isOwned), 'elsewhere'),
    related: createObjectSet(withKinds.filter((one) => !isOwned(one)).map(watched), 'elsewhere'),
    now: NOW,
    ...more,
  };
}

function projected(object: KubeObject, fields: readonly string[]): KubeObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  return { ...(pick(rest, fields) as object), apiVersion, kind, metadata };
}

function pick(value: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => pick(item, fields));
  if (fields.includes('') || typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).flatMap(([name, item]): [string, unknown][] => {
    const below = fields.filter((field) => field === name || field.startsWith(`${name}.`));
    return below.length === 0
      ? []
      : [
          [
            name,
            pick(
              item,
              below.map((field) => field.slice(name.length + 1)),
            ),
          ],
        ];
  });
  return Object.fromEntries(kept);
}

/** A DaemonSet of Falco; `ready` of `desired` nodes, all updated, unless the status says otherwise. */
export function falco(status: Partial<NonNullable<DaemonSet['status']>> = {}, pod: Partial<PodSpec> = {}): DaemonSet {
  const set = workload(DaemonSet, 'falco', pod);
  return {
    ...set,
    status: {
      observedGeneration: 1,
      desiredNumberScheduled: 3,
      currentNumberScheduled: 3,
      updatedNumberScheduled: 3,
      numberReady: 3,
      numberMisscheduled: 0,
      ...status,
    },
  };
}

/** A Deployment of two replicas that run, unless the status says otherwise. */
export function gateway(
  status: Partial<NonNullable<Deployment['status']>> = {},
  pod: Partial<PodSpec> = {},
): Deployment {
  const made = workload(Deployment, 'otel-gateway', pod);
  return {
    ...made,
    spec: { ...made.spec, replicas: 2 },
    status: {
      observedGeneration: 1,
      replicas: 2,
      updatedReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      ...status,
    },
  };
}

function workload<T extends DaemonSet | Deployment>(kind: Kind<T>, name: string, pod: Partial<PodSpec>): T {
  const labels = { 'app.kubernetes.io/name': name };
  const spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container(name)], ...pod } },
  };
  const metadata = { name, namespace: NAMESPACE, uid: `uid-${name}`, generation: 1, labels: { [FEATURE_LABEL]: name } };
  return { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata, spec } as unknown as T;
}

export function container(name: string, more: Partial<Container> = {}): Container {
  return { name, image: `registry.example/${name}:1.0`, ...more };
}

/** A pod of a workload; what its status does not say is as in a pod that runs. */
export function podOf(owner: KubeObject, node: string | undefined, status: PodStatus): Pod {
  const { name } = owner.metadata;
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node ?? 'node-9'] }];
  const affinity = {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } },
  };
  return manifest(
    Pod,
    {
      name: `${name}-${node ?? 'new'}`,
      namespace: NAMESPACE,
      creationTimestamp: ago(600),
      labels: { 'app.kubernetes.io/name': name },
      ownerReferences: [{ apiVersion: owner.apiVersion, kind: owner.kind, name, uid: owner.metadata.uid ?? '' }],
    },
    {
      spec: {
        ...(node === undefined ? {} : { nodeName: node }),
        ...(owner.kind === 'DaemonSet' ? { affinity } : {}),
        containers: [],
      },
      ...{ status },
    },
  );
}

/** The status of a pod whose first container is in this state. */
export function containerIn(
  name: string,
  state: NonNullable<ContainerStatus['state']>,
  more: Partial<ContainerStatus> = {},
): PodStatus {
  const status: ContainerStatus = {
    name,
    image: `registry.example/${name}:1.0`,
    imageID: '',
    ready: false,
    restartCount: 0,
    state,
    ...more,
  };
  const isUp = state.waiting === undefined || state.waiting.reason === 'CrashLoopBackOff';
  return {
    phase: isUp ? 'Running' : 'Pending',
    conditions: [
      condition('PodScheduled', 'True'),
      ...(more.ready === true
        ? [condition('ContainersReady', 'True'), condition('Ready', 'True')]
        : [condition('ContainersReady', 'False'), condition('Ready', 'False', 'ContainersNotReady')]),
    ],
    containerStatuses: [status],
  };
}

export function condition(type: string, status: string, reason?: string, message?: string): PodCondition {
  return {
    type,
    status,
    lastTransitionTime: ago(300),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

/** An event as the DaemonSet controller writes it: of the old kind, so without the times of the new one. */
export function failedCreate(owner: KubeObject, note: string, seconds = 5, name = `event-${seconds}`): Event {
  const event = manifest(
    Event,
    { name, namespace: NAMESPACE, creationTimestamp: ago(seconds + 2400) },
    {
      eventTime: '',
      reason: 'FailedCreate',
      regarding: { kind: owner.kind, namespace: NAMESPACE, name: owner.metadata.name, uid: owner.metadata.uid ?? '' },
      note,
      type: 'Warning',
      deprecatedLastTimestamp: ago(seconds),
    },
  );
  return { ...event, eventTime: null } as unknown as Event;
}

/** A CronJob every six hours. */
export function trivy(status: CronJob['status'] = {}, suspend = false): CronJob {
  const template = { metadata: {}, spec: { containers: [container('trivy')], restartPolicy: 'Never' } };
  const made = manifest(
    CronJob,
    { name: 'trivy', namespace: NAMESPACE, uid: 'uid-trivy', labels: { [FEATURE_LABEL]: 'trivy' } },
    { spec: { schedule: '0 */6 * * *', suspend, jobTemplate: { spec: { template } } } },
  );
  return { ...made, status };
}

/** A pod of a run of the CronJob. */
export function podOfRun(status: PodStatus, seconds: number): Pod {
  const pod = podOf(trivy(), 'node-1', status);
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'trivy-29539440', uid: 'uid-job' };
  const metadata = {
    ...pod.metadata,
    name: 'trivy-29539440-x7k2p',
    creationTimestamp: ago(seconds),
    ownerReferences: [owner],
  };
  return { ...pod, metadata };
}
