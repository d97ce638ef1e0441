/**
 * How simulated nodes and pods behave, as KWOK stages: each names a state of an object and the status to write next.
 * (Fields and template functions: https://kwok.sigs.k8s.io/docs/user/stages-configuration/)
 *
 * Nodes become ready. Pods become ready at once, pods of Jobs complete, deleted pods go. A pod, or the template of its
 * workload, can ask for trouble with the annotation `testenv.keelson.io/simulate`; without it the pod recovers.
 */

/** Trouble that a pod can ask for. */
export type SimulatedTrouble = 'unready' | 'image-pull-error' | 'crash-loop';

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
      { statusTemplate: podStatus('Running', 'True', 'running: { startedAt: {{ Now | Quote }} }') },
    ),
    stage(
      'Pod',
      'complete',
      [notDeleted, ['.status.phase', 'In', 'Running'], ['.metadata.ownerReferences.[].kind', 'In', 'Job']],
      { statusTemplate: podStatus('Succeeded', 'False', 'terminated: { exitCode: 0, reason: Completed }') },
    ),
    trouble('unready', 'Running', 'running: { startedAt: {{ Now | Quote }} }', ['.status.phase', 'NotIn', 'Running']),
    trouble('image-pull-error', 'Pending', 'waiting: { reason: ImagePullBackOff, message: simulated }', [
      waitingReason,
      'NotIn',
      'ImagePullBackOff',
    ]),
    trouble('crash-loop', 'Running', 'waiting: { reason: CrashLoopBackOff, message: simulated }', [
      waitingReason,
      'NotIn',
      'CrashLoopBackOff',
    ]),
  ]
    .map((document) => JSON.stringify(document))
    .join('\n---\n');
}

/** A stage for pods with the annotation; `unlessDone` keeps it from being written again and again. */
function trouble(name: SimulatedTrouble, phase: string, state: string, unlessDone: Requirement): object {
  return stage('Pod', name, [notDeleted, [annotation, 'In', name], unlessDone], {
    statusTemplate: podStatus(phase, 'False', state),
  });
}

function stage(kind: 'Node' | 'Pod', name: string, when: readonly Requirement[], next: object): object {
  const matchExpressions = when.map(([key, operator, ...values]) => ({ key, operator, values }));
  return {
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    kind: 'Stage',
    metadata: { name: `${kind.toLowerCase()}-${name}` },
    spec: { resourceRef: { apiGroup: 'v1', kind }, selector: { matchExpressions }, next },
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

function podStatus(phase: string, ready: 'True' | 'False', containerState: string): string {
  const condition = (type: string, status: string) =>
    `- { type: ${type}, status: "${status}", lastTransitionTime: {{ Now | Quote }} }`;
  return `
phase: ${phase}
startTime: {{ or .status.startTime Now | Quote }}
conditions:
${condition('Initialized', 'True')}
${condition('ContainersReady', ready)}
${condition('Ready', ready)}
{{ range .spec.readinessGates }}
- { type: {{ .conditionType | Quote }}, status: "True", lastTransitionTime: {{ Now | Quote }} }
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: ${ready === 'True'}
  started: ${ready === 'True'}
  restartCount: 0
  state: { ${containerState} }
{{ end }}
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: true
  restartCount: 0
  {{ if eq .restartPolicy "Always" }}
  started: true
  state: { running: { startedAt: {{ Now | Quote }} } }
  {{ else }}
  state: { terminated: { exitCode: 0, reason: Completed } }
  {{ end }}
{{ end }}
{{ with NodeIPsWith .spec.nodeName }}
hostIP: {{ index . 0 | Quote }}
{{ end }}
{{ if not .status.podIP }}
{{ with PodIPsWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) }}
podIP: {{ index . 0 | Quote }}
podIPs:
{{ range . }}
- ip: {{ . | Quote }}
{{ end }}
{{ end }}
{{ end }}
`;
}
