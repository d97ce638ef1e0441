/**
 * How simulated nodes and pods behave, as KWOK stages: each names a state of an object and the status to write next.
 * (Fields and template functions: https://kwok.sigs.k8s.io/docs/user/stages-configuration/)
 *
 * Nodes become ready. Pods become ready at once, pods of Jobs complete, deleted pods go. A pod, or the template of its
 * workload, can ask for trouble with the annotation `testenv.keelson.io/simulate`; without it the pod recovers.
 */
import {
  type ContainerTemplate,
  completed,
  crashed,
  errImagePull,
  imagePullBackOff,
  podStatus,
  running,
} from './pod-status.ts';

/** Trouble that a pod can ask for. */
export type SimulatedTrouble = 'unready' | 'image-pull-error' | 'crash-loop' | 'out-of-memory';

/** The annotation with which a pod asks for trouble; its value is a `SimulatedTrouble`. */
export const simulateAnnotation = 'testenv.keelson.io/simulate';

const annotation = `.metadata.annotations["${simulateAnnotation}"]`;
const readyCondition = '.status.conditions.[] | select( .type == "Ready" ) | .status';
const waitingReason = '.status.containerStatuses.[].state.waiting.reason';

type Requirement = readonly [key: string, operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', ...values: string[]];

const notDeleted: Requirement = ['.metadata.deletionTimestamp', 'DoesNotExist'];

/** The text of KWOK's configuration file: one JSON document a stage. */
export function kwokConfig(): string {
  return [
    stage('Node', 'ready', [[readyCondition, 'NotIn', 'True']], { statusTemplate: nodeStatus }),
    stage('Pod', 'delete', [['.metadata.deletionTimestamp', 'Exists']], { delete: true }),
    stage(
      'Pod',
      'ready',
      [
        notDeleted,
        [annotation, 'DoesNotExist'],
        ['.status.phase', 'In', 'Pending', 'Running'],
        [readyCondition, 'NotIn', 'True'],
      ],
      { statusTemplate: podStatus('Running', 'True', running) },
    ),
    stage(
      'Pod',
      'complete',
      [notDeleted, ['.status.phase', 'In', 'Running'], ['.metadata.ownerReferences.[].kind', 'In', 'Job']],
      { statusTemplate: podStatus('Succeeded', 'False', completed) },
    ),
    trouble('unready', [readyCondition, 'NotIn', 'False'], 'Running', running),
    // A kubelet first tells why it could not pull, and from then on mostly that it waits before it tries again.
    trouble('image-pull-error', [waitingReason, 'NotIn', 'ErrImagePull', 'ImagePullBackOff'], 'Pending', errImagePull),
    trouble('image-pull-error', [waitingReason, 'In', 'ErrImagePull'], 'Pending', imagePullBackOff, 1000),
    trouble('crash-loop', [waitingReason, 'NotIn', 'CrashLoopBackOff'], 'Running', crashed(1, 'Error')),
    trouble('out-of-memory', [waitingReason, 'NotIn', 'CrashLoopBackOff'], 'Running', crashed(137, 'OOMKilled')),
  ]
    .map((document) => JSON.stringify(document))
    .join('\n---\n');
}

/** A stage for pods with the annotation; `when` keeps it from being written again and again. */
function trouble(
  name: SimulatedTrouble,
  when: Requirement,
  phase: string,
  container: ContainerTemplate,
  delayMs?: number,
): object {
  return stage(
    'Pod',
    delayMs === undefined ? name : `${name}-later`,
    [notDeleted, [annotation, 'In', name], when],
    { statusTemplate: podStatus(phase, 'False', container) },
    delayMs,
  );
}

function stage(
  kind: 'Node' | 'Pod',
  name: string,
  when: readonly Requirement[],
  next: object,
  delayMs?: number,
): object {
  const matchExpressions = when.map(([key, operator, ...values]) => ({ key, operator, values }));
  return {
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    kind: 'Stage',
    metadata: { name: `${kind.toLowerCase()}-${name}` },
    spec: {
      resourceRef: { apiGroup: 'v1', kind },
      selector: { matchExpressions },
      ...(delayMs !== undefined && { delay: { durationMilliseconds: delayMs } }),
      next,
    },
  };
}

const nodeStatus = `
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ Now | Quote }}
  lastTransitionTime: {{ Now | Quote }}
{{ end }}
phase: Running
`;
