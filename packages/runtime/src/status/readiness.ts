/**
 * Judges from the status of a live object whether it does its job, in words that name what a person has to look at.
 * Knows the built-in workloads; of anything else it takes a `Ready` condition at its word, and is content without one.
 */
import type { Condition, Kind, KubeObject } from '@keelson/schema';
import { isMap } from '../plan/value.ts';

export interface Readiness {
  readonly state: 'ready' | 'progressing' | 'failed';
  /** `Deployment web: 1/3 replicas ready` */
  readonly message: string;
}

type Loose = Readonly<Record<string, unknown>>;
interface Parts {
  readonly spec: Loose;
  readonly status: Loose;
  readonly conditions: readonly Partial<Condition>[];
}
type Verdict = { readonly state: Readiness['state']; readonly message: string };

const ready: Verdict = { state: 'ready', message: 'ready' };
const progressing = (message: string): Verdict => ({ state: 'progressing', message });
const failed = (message: string): Verdict => ({ state: 'failed', message });

/** How far a live child is. */
export function readinessOf(kind: Kind, object: KubeObject): Readiness {
  const spec = mapOf(object.spec);
  const status = mapOf(object.status);
  const conditions = Array.isArray(status.conditions) ? (status.conditions as Partial<Condition>[]) : [];
  const verdict = lagOf(object, status) ?? judgeOf(kind)({ spec, status, conditions });
  return { state: verdict.state, message: `${kind.kind} ${object.metadata.name}: ${verdict.message}` };
}

/** A controller that has not looked at the newest spec yet speaks of an older one. */
function lagOf(object: KubeObject, status: Loose): Verdict | undefined {
  const { generation } = object.metadata;
  if (generation === undefined || typeof status.observedGeneration !== 'number') return undefined;
  return status.observedGeneration < generation
    ? progressing('its controller has not seen the latest change yet')
    : undefined;
}

function judgeOf(kind: Kind): (parts: Parts) => Verdict {
  const own = kind.group === '' || !kind.group.includes('.') || kind.group.endsWith('.k8s.io');
  return (own ? judges[kind.kind] : undefined) ?? judgeByCondition;
}

const judges: Readonly<Record<string, (parts: Parts) => Verdict>> = {
  Deployment({ spec, status, conditions }) {
    const failure = find(conditions, 'ReplicaFailure', 'True') ?? findStalled(conditions);
    const wanted = count(spec.replicas, 1);
    const done = Math.min(count(status.updatedReplicas), count(status.availableReplicas));
    const old = count(status.replicas) - count(status.updatedReplicas);
    if (done >= wanted && old <= 0) return ready;
    if (failure !== undefined) return failed(`${failure.reason}: ${failure.message}`);
    const text = `${count(status.readyReplicas)}/${wanted} replicas ready`;
    return progressing(old > 0 ? `${text}, ${old} of an older version still there` : text);
  },
  StatefulSet({ spec, status }) {
    const wanted = count(spec.replicas, 1);
    const strategy = mapOf(spec.updateStrategy);
    const partition = count(mapOf(strategy.rollingUpdate).partition);
    const updated = strategy.type === 'OnDelete' ? wanted : count(status.updatedReplicas);
    if (count(status.readyReplicas) < wanted)
      return progressing(`${count(status.readyReplicas)}/${wanted} replicas ready`);
    return updated >= wanted - partition ? ready : progressing(`${updated}/${wanted - partition} replicas updated`);
  },
  DaemonSet({ spec, status }) {
    const wanted = count(status.desiredNumberScheduled);
    const onDelete = mapOf(spec.updateStrategy).type === 'OnDelete';
    const updated = onDelete ? wanted : count(status.updatedNumberScheduled);
    if (status.observedGeneration === undefined) return progressing('waits for its controller');
    if (count(status.numberReady) < wanted) return progressing(`${count(status.numberReady)}/${wanted} nodes ready`);
    return updated >= wanted ? ready : progressing(`${updated}/${wanted} nodes updated`);
  },
  ReplicaSet({ spec, status }) {
    const wanted = count(spec.replicas, 1);
    const done = count(status.readyReplicas);
    return done >= wanted ? ready : progressing(`${done}/${wanted} replicas ready`);
  },
  Job({ spec, status, conditions }) {
    const failure = find(conditions, 'Failed', 'True');
    if (failure !== undefined) return failed(`${failure.reason}: ${failure.message}`);
    if (find(conditions, 'Complete', 'True') !== undefined) return ready;
    if (spec.suspend === true) return progressing('suspended');
    return progressing(
      `${count(status.succeeded)}/${count(spec.completions, 1)} completed, ${count(status.active)} running`,
    );
  },
  Pod({ status, conditions }) {
    if (status.phase === 'Succeeded' || find(conditions, 'Ready', 'True') !== undefined) return ready;
    if (status.phase === 'Failed') return failed(textOf(status.message) ?? textOf(status.reason) ?? 'failed');
    return progressing(
      podTrouble(status) ??
        find(conditions, 'PodScheduled', 'False')?.message ??
        `phase ${String(status.phase ?? 'Pending')}`,
    );
  },
  PersistentVolumeClaim({ status }) {
    if (status.phase === 'Bound') return ready;
    return status.phase === 'Lost' ? failed('its volume is lost') : progressing('not bound to a volume yet');
  },
  Service({ spec, status }) {
    if (spec.type !== 'LoadBalancer') return ready;
    const ingress = mapOf(status.loadBalancer).ingress;
    return Array.isArray(ingress) && ingress.length > 0 ? ready : progressing('its load balancer has no address yet');
  },
  CustomResourceDefinition({ conditions }) {
    const refused = find(conditions, 'NamesAccepted', 'False');
    if (refused !== undefined) return failed(`${refused.reason}: ${refused.message}`);
    return find(conditions, 'Established', 'True') === undefined ? progressing('not served yet') : ready;
  },
  APIService: ({ conditions }) => judgeCondition(conditions, 'Available'),
  Namespace: ({ status }) => (status.phase === 'Terminating' ? progressing('being deleted') : ready),
};

function judgeByCondition({ conditions }: Parts): Verdict {
  return conditions.some((condition) => condition.type === 'Ready') ? judgeCondition(conditions, 'Ready') : ready;
}

function judgeCondition(conditions: readonly Partial<Condition>[], type: string): Verdict {
  const condition = conditions.find((one) => one.type === type);
  if (condition?.status === 'True') return ready;
  return progressing([condition?.reason, condition?.message].filter(Boolean).join(': ') || `not ${type} yet`);
}

/** What keeps a pod's containers from running, e.g. `container web: ImagePullBackOff: …`. */
function podTrouble(status: Loose): string | undefined {
  const containers = [status.initContainerStatuses, status.containerStatuses].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  for (const container of containers as {
    name?: string;
    state?: { waiting?: { reason?: string; message?: string } };
  }[]) {
    const waiting = container.state?.waiting;
    if (waiting?.reason === undefined || ['ContainerCreating', 'PodInitializing'].includes(waiting.reason)) continue;
    return [`container ${container.name}`, waiting.reason, waiting.message].filter(Boolean).join(': ');
  }
  return undefined;
}

function find(
  conditions: readonly Partial<Condition>[],
  type: string,
  status: Condition['status'],
): Partial<Condition> | undefined {
  return conditions.find((condition) => condition.type === type && condition.status === status);
}

function findStalled(conditions: readonly Partial<Condition>[]): Partial<Condition> | undefined {
  const stalled = find(conditions, 'Progressing', 'False');
  return stalled?.reason === 'ProgressDeadlineExceeded' ? stalled : undefined;
}

function mapOf(value: unknown): Loose {
  return isMap(value) ? value : {};
}

function count(value: unknown, otherwise = 0): number {
  return typeof value === 'number' ? value : otherwise;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
