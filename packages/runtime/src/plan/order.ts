/**
 * The order in which objects are applied: what others stand on comes first (a namespace before what is in it, a definition
 * before its objects, rights and configuration before the pods that need them). Deleted in reverse.
 */
import type { Kind } from '@keelson/schema';

const stages: readonly (readonly string[])[] = [
  ['Namespace'],
  ['CustomResourceDefinition'],
  ['ServiceAccount', 'Role', 'ClusterRole'],
  ['RoleBinding', 'ClusterRoleBinding'],
  [
    'PriorityClass',
    'RuntimeClass',
    'StorageClass',
    'ResourceQuota',
    'LimitRange',
    'NetworkPolicy',
    'ConfigMap',
    'Secret',
    'PersistentVolume',
    'PersistentVolumeClaim',
  ],
  ['Service', 'EndpointSlice'],
  ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Pod', 'Job', 'CronJob'],
];

const stageOf = new Map(stages.flatMap((kinds, stage) => kinds.map((kind) => [kind, stage] as const)));

/** Groups that Kubernetes itself serves end like this or have no dot; a custom `Service` of somebody else is no Service. */
function isBuiltIn(group: string): boolean {
  return !group.includes('.') || group.endsWith('.k8s.io');
}

interface Placed {
  readonly kind: Kind;
  readonly name: string;
  readonly namespace: string | undefined;
}

/** Sorts by apply order; total, so that the order of the input does not matter. */
export function compareApplyOrder(a: Placed, b: Placed): number {
  return (
    stage(a.kind) - stage(b.kind) ||
    compareText(a.kind.kind, b.kind.kind) ||
    compareText(a.kind.group, b.kind.group) ||
    compareText(a.namespace ?? '', b.namespace ?? '') ||
    compareText(a.name, b.name)
  );
}

function stage(kind: Kind): number {
  return (isBuiltIn(kind.group) ? stageOf.get(kind.kind) : undefined) ?? stages.length;
}

// Not localeCompare: the order must be the same on every machine.
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
