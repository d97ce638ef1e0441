/**
 * What a simulated pod says of itself, as Go templates for KWOK: the fields and the words of a kubelet with containerd, so
 * that code which reads them meets what it will meet in a cluster.
 */

/** What is told of each container; in a template the dot is the container and $ the pod. */
export interface ContainerTemplate {
  readonly state: string;
  readonly lastState?: string;
  readonly restartCount?: number;
}

/** A container that runs. */
export const running: ContainerTemplate = { state: '{ running: { startedAt: {{ Now | Quote }} } }' };

/** A container that has ended well. */
export const completed: ContainerTemplate = { state: '{ terminated: { exitCode: 0, reason: Completed } }' };

const pullFailure = 'failed to pull and unpack image %q: failed to resolve reference %q: not found';

/** A container whose image could not be pulled just now. */
export const errImagePull = waiting('ErrImagePull', `printf "${pullFailure}" .image .image`);

/** A container whose image could not be pulled, between two tries. */
export const imagePullBackOff = waiting(
  'ImagePullBackOff',
  `printf "Back-off pulling image %q: ErrImagePull: ${pullFailure}" .image .image .image`,
);

/** A container that has ended in the given way some times and waits for its next try. */
export function crashed(exitCode: number, reason: string): ContainerTemplate {
  const pod = '$.metadata.name $.metadata.namespace $.metadata.uid';
  const times = 'startedAt: {{ Now | Quote }}, finishedAt: {{ Now | Quote }}';
  return {
    ...waiting('CrashLoopBackOff', `printf "back-off 40s restarting failed container=%s pod=%s_%s(%s)" .name ${pod}`),
    lastState: `{ terminated: { exitCode: ${exitCode}, reason: ${reason}, ${times} } }`,
    restartCount: 3,
  };
}

function waiting(reason: string, message: string): ContainerTemplate {
  return { state: `{ waiting: { reason: ${reason}, message: {{ ${message} | Quote }} } }` };
}

/** The template of a pod's whole status. */
export function podStatus(phase: string, ready: 'True' | 'False', container: ContainerTemplate): string {
  const { state, lastState = '{}', restartCount = 0 } = container;
  const condition = (type: string, status: string, why = '') =>
    `- { type: ${type}, status: "${status}", ${why}lastTransitionTime: {{ Now | Quote }} }`;
  const why = ready === 'True' ? '' : phase === 'Succeeded' ? 'reason: PodCompleted, ' : containersNotReady;
  return `
phase: ${phase}
startTime: {{ or .status.startTime Now | Quote }}
conditions:
${condition('Initialized', 'True')}
${condition('ContainersReady', ready, why)}
${condition('Ready', ready, why)}
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
  restartCount: ${restartCount}
  state: ${state}
  lastState: ${lastState}
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
  state: ${running.state}
  {{ else }}
  state: ${completed.state}
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

const containerNames = '{{ range $i, $c := .spec.containers }}{{ if $i }} {{ end }}{{ $c.name }}{{ end }}';
const containersNotReady = `reason: ContainersNotReady, message: "containers with unready status: [${containerNames}]", `;
