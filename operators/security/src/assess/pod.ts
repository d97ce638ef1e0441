/** What is wrong with one pod, out of its status: the first of its containers that is in trouble, else the pod as a whole. */
import type { Pod } from '@keelson/schema';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import { containerTrouble, isWithin, type Surrounding } from './container.ts';
import { unschedulable } from './placement.ts';
import { enumerate, shorten } from './text.ts';
import type { Trouble } from './trouble.ts';

/** A pod whose volumes and network are not there sooner than this is just starting. */
const MOUNT_PATIENCE_MS = 60_000;

/** The trouble of a pod; undefined when it is well, or merely starting. */
export function podTrouble(pod: Pod, around: Omit<Surrounding, 'namespace' | 'pod'>): Trouble | undefined {
  const { status } = pod;
  if (status === undefined || status.phase === 'Succeeded') return undefined;
  const whole: Surrounding = { ...around, namespace: pod.metadata.namespace ?? '', pod: pod.metadata.name };
  if (status.reason === 'Evicted')
    return {
      reason: 'Evicted',
      key: 'evicted',
      text: `evicted: ${shorten(status.message ?? 'the node was short of something', 200)}`,
      remedy: `free the node, or raise the requests by ${around.override}.resources`,
    };
  const ofContainer =
    first(status.initContainerStatuses, (one) => containerTrouble(one, true, whole)) ??
    first(status.containerStatuses, (one) => containerTrouble(one, false, whole));
  return ofContainer ?? wholeTrouble(pod, whole);
}

function wholeTrouble({ status }: Pod, around: Surrounding): Trouble | undefined {
  if (status?.phase === 'Failed') {
    const said = [status.reason, status.message].filter((part) => part !== undefined && part !== '').join(': ');
    return {
      reason: 'PodFailed',
      key: status.reason ?? '',
      text: `pod failed${said === '' ? '' : `: ${shorten(said, 200)}`}`,
    };
  }
  const condition = (type: string) => status?.conditions?.find((one) => one.type === type);
  const scheduled = condition('PodScheduled');
  if (scheduled?.status === 'False' && scheduled.message !== undefined && scheduled.reason === 'Unschedulable')
    return unschedulable(scheduled.message, around.override);
  // Containers are told by kubelet; when only the pod is not ready, the control plane has lost sight of the node.
  const isSilent = condition('Ready')?.status === 'False' && condition('ContainersReady')?.status === 'True';
  if (isSilent && condition('Ready')?.reason !== 'ReadinessGatesNotReady')
    return {
      reason: 'NodeUnreachable',
      key: 'unreachable',
      text: 'the node no longer reports',
      remedy: 'see kubectl get nodes',
    };
  const prepared = condition('PodReadyToStartContainers');
  const isStuck = prepared?.status === 'False' && !isWithin(prepared.lastTransitionTime, MOUNT_PATIENCE_MS, around.now);
  return status?.phase === 'Pending' && isStuck ? notStarted(around) : undefined;
}

/** A pod's status does not tell which volume is missing; what could be missing is known. */
function notStarted({ template, namespace, pod }: Surrounding): Trouble {
  const mounted = mountedNames(template);
  const what =
    mounted.length === 0 ? 'its volumes or its network' : `its network or its volumes (${enumerate(mounted, 5)})`;
  return {
    reason: 'NotStarted',
    key: 'mounts',
    text: `waits for ${what}`,
    remedy: `see kubectl describe pod -n ${namespace} ${pod}`,
  };
}

function mountedNames(template: PodTemplateSpec | undefined): string[] {
  return (template?.spec?.volumes ?? []).flatMap(({ secret, configMap, persistentVolumeClaim: claim, hostPath }) => {
    if (secret?.secretName !== undefined && secret.optional !== true) return [`Secret ${secret.secretName}`];
    if (configMap?.name !== undefined && configMap.optional !== true) return [`ConfigMap ${configMap.name}`];
    if (claim !== undefined) return [`PersistentVolumeClaim ${claim.claimName}`];
    // These must be there already: the others are made, or not checked.
    const isDemanding =
      hostPath?.type !== undefined && !['', 'DirectoryOrCreate', 'FileOrCreate'].includes(hostPath.type);
    return isDemanding ? [`hostPath ${hostPath.path}`] : [];
  });
}

function first<T>(list: readonly T[] | undefined, judge: (item: T) => Trouble | undefined): Trouble | undefined {
  for (const item of list ?? []) {
    const trouble = judge(item);
    if (trouble !== undefined) return trouble;
  }
  return undefined;
}
