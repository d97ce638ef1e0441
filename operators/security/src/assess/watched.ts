/** What an assessment looks at beyond what the agent owns, as narrow as it can be asked for: caches hold this and no more. */
import type { Watch } from '@keelson/runtime';

const ofContainers = ['name', 'image', 'ready', 'started', 'restartCount', 'state', 'lastState.terminated'];

/** The fields of a pod that are looked at. No spec of a container is among them: an environment never enters the cache. */
export const podFields: readonly string[] = [
  'spec.nodeName',
  // The node that a pod of a DaemonSet is meant for, before it is there.
  'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.matchFields',
  'status.phase',
  // Collectors are asked how events flow.
  'status.podIP',
  'status.reason',
  'status.message',
  'status.conditions',
  ...ofContainers.map((field) => `status.initContainerStatuses.${field}`),
  ...ofContainers.map((field) => `status.containerStatuses.${field}`),
];

/** The fields of an event that are looked at. */
export const eventFields: readonly string[] = [
  'regarding',
  'note',
  'reason',
  'eventTime',
  'series.lastObservedTime',
  'deprecatedLastTimestamp',
];

/**
 * Events that say why pods are not made: only there a DaemonSet and a StatefulSet tell (a Deployment has a condition). A selector has no
 * "or", but it can leave out the others.
 */
export const failedCreateScope: NonNullable<Watch['scope']> = {
  fieldSelector: 'reason=FailedCreate,regarding.kind!=ReplicaSet,regarding.kind!=Job',
};
