/** How far one workload of a feature is: numbers, and every trouble of its pods with the place where it is. */
import { type ObjectSet, readinessOf } from '@keelson/runtime';
import { type DaemonSet, type Deployment, type Kind, type KubeObject, Pod, type StatefulSet } from '@keelson/schema';
import { templateOf } from '../workload/template.ts';
import { creationTrouble, failedCreation } from './creation.ts';
import { nodeOf, noMatchingNode, type Places } from './placement.ts';
import { podTrouble } from './pod.ts';
import type { Trouble } from './trouble.ts';

/** A trouble and the pods that have it. */
export interface Placed extends Trouble {
  /** Names of nodes for a DaemonSet, else of pods; empty when it is about no pod that exists. */
  readonly places: readonly string[];
}

export interface Standing {
  readonly kind: string;
  readonly name: string;
  readonly unit: 'nodes' | 'replicas';
  readonly ready: number;
  readonly desired: number;
  readonly isReady: boolean;
  /** Unordered; empty when it is ready, and when it merely needs time. */
  readonly troubles: readonly Placed[];
  /** What it waits for when there is no trouble: its reason and words. */
  readonly progress: { readonly reason: string; readonly text: string };
}

/** What is needed besides the workload itself. */
export interface View extends Places {
  readonly related: ObjectSet;
  readonly now: Date;
}

/** The standing of a live DaemonSet, Deployment or StatefulSet. */
export function standingOf(kind: Kind, live: KubeObject, view: View): Standing {
  const counts = countsOf(live);
  const readiness = readinessOf(kind, live);
  // To the engine a DaemonSet without a node is done; to somebody who wants to be guarded it is not.
  const isNowhere = counts.unit === 'nodes' && counts.desired === 0;
  const isReady = readiness.state === 'ready' && !isNowhere;
  const head = { kind: kind.kind, name: live.metadata.name, isReady };
  const { generation = 0 } = live.metadata;
  const isBehind = counts.observedGeneration < generation;
  // What is known of its pods is about an older spec, and may be over.
  if (isReady || isBehind) {
    const text = `the controller of ${kind.kind} ${live.metadata.name} has not seen the latest change yet`;
    return { ...head, ...counts, troubles: [], progress: { reason: 'Progressing', text } };
  }
  const troubles = [
    ...(isNowhere ? [nowhere(live, view)] : []),
    ...uncreated(live, counts, view),
    ...ofPods(live, view),
  ];
  return { ...head, ...counts, troubles, progress: progressOf(counts, readiness.message) };
}

interface Counts {
  readonly unit: 'nodes' | 'replicas';
  readonly ready: number;
  readonly desired: number;
  readonly updated: number;
  /** Pods that exist. */
  readonly made: number;
  readonly observedGeneration: number;
}

function countsOf(live: KubeObject): Counts {
  if (live.kind === 'DaemonSet') {
    const { status } = live as DaemonSet;
    const desired = status?.desiredNumberScheduled ?? 0;
    return {
      unit: 'nodes',
      desired,
      ready: Math.min(status?.numberReady ?? 0, desired),
      updated: status?.updatedNumberScheduled ?? 0,
      made: status?.currentNumberScheduled ?? 0,
      observedGeneration: status?.observedGeneration ?? -1,
    };
  }
  const { spec, status } = live as Deployment | StatefulSet;
  const desired = spec.replicas ?? 1;
  return {
    unit: 'replicas',
    desired,
    // While it is rolled out there may be more than there should be.
    ready: Math.min(status?.readyReplicas ?? 0, desired),
    updated: Math.min(status?.updatedReplicas ?? 0, desired),
    made: status?.replicas ?? 0,
    observedGeneration: status?.observedGeneration ?? -1,
  };
}

function nowhere(live: KubeObject, view: View): Placed {
  return { ...noMatchingNode(templateOf(live), view), places: [] };
}

/** Pods that the API server refuses to make. */
function uncreated(live: KubeObject, { made, desired }: Counts, { related, override, now }: View): readonly Placed[] {
  const { conditions } = (live as Deployment).status ?? {};
  const failure = conditions?.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True')?.message;
  const message = failure ?? (made < desired ? failedCreation(live, related, now) : undefined);
  if (message === undefined) return [];
  return [{ ...creationTrouble(message, live.metadata.namespace ?? '', override), places: [] }];
}

/** The troubles of its pods, one for all pods that share it. */
function ofPods(live: KubeObject, view: View): readonly Placed[] {
  const selector = (live as Deployment).spec.selector?.matchLabels ?? {};
  const pods = view.related
    .list(Pod)
    .filter(
      ({ metadata }) => metadata.namespace === live.metadata.namespace && metadata.deletionTimestamp === undefined,
    )
    .filter(({ metadata }) => Object.entries(selector).every(([key, value]) => metadata.labels?.[key] === value));
  return groupTroubles(pods, live, view);
}

/** One entry for pods that have the same trouble, with the words of the first of them; nodes name pods of a DaemonSet. */
export function groupTroubles(pods: readonly Pod[], workload: KubeObject, view: View): readonly Placed[] {
  const template = templateOf(workload);
  const groups = new Map<string, Trouble & { readonly places: string[] }>();
  // In the order of the places, so that the same cluster always leads to the same words.
  for (const { pod, place } of placed(pods, workload.kind)) {
    const trouble = podTrouble(pod, { template, override: view.override, now: view.now });
    if (trouble === undefined) continue;
    const key = `${trouble.reason} ${trouble.key}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { ...trouble, places: [place] });
    else group.places.push(place);
  }
  return [...groups.values()];
}

function placed(pods: readonly Pod[], kind: string): readonly { readonly pod: Pod; readonly place: string }[] {
  return pods
    .map((pod) => ({ pod, place: placeOf(pod, kind) }))
    .sort((a, b) => a.place.localeCompare(b.place, 'en', { numeric: true }));
}

function placeOf(pod: Pod, kind: string): string {
  const node = nodeOf(pod);
  if (kind === 'DaemonSet' && node !== undefined) return node;
  return node === undefined ? `pod ${pod.metadata.name}` : `pod ${pod.metadata.name} on ${node}`;
}

function progressOf({ unit, ready, desired, updated, made }: Counts, message: string) {
  if (updated < desired && made >= desired)
    return { reason: 'RollingOut', text: `${updated}/${desired} ${unit} updated` };
  if (ready < desired)
    return { reason: 'Progressing', text: made < desired ? 'pods are being made' : 'the others are starting' };
  return { reason: 'RollingOut', text: message };
}
