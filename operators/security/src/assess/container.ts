/** What keeps one container of a pod from doing its work, out of its status. */
import type {
  Container,
  ContainerStateTerminated,
  ContainerStatus,
  PodTemplateSpec,
  Probe,
} from 'kubernetes-types/core/v1.js';
import { isPullReason, pullTrouble } from './image-pull.ts';
import { plural, shorten } from './text.ts';
import type { Trouble } from './trouble.ts';
import { withoutSecrets } from './without-secrets.ts';

/** What is known about the pod around a container. */
export interface Surrounding {
  readonly namespace: string;
  readonly pod: string;
  /** As the workload wants its pods; undefined when the workload is not known. */
  readonly template: PodTemplateSpec | undefined;
  /** Where a user changes the pods: `spec.override.perTool.falco`. */
  readonly override: string;
  readonly now: Date;
}

/** Kubelet forgets the crashes of a container that has run for this long. */
const CRASH_MEMORY_MS = 600_000;
/** A container that is not ready sooner than this is just starting. */
const PATIENCE_MS = 60_000;

/** The trouble of a container; undefined when it is well, or merely starting. */
export function containerTrouble(status: ContainerStatus, isInit: boolean, around: Surrounding): Trouble | undefined {
  const { waiting, terminated, running } = status.state ?? {};
  const reason = waiting?.reason ?? '';
  if (isPullReason(reason)) return pullTrouble(status.image, reason, waiting?.message);
  if (reason === 'CreateContainerConfigError') return configTrouble(status, waiting?.message, around);
  if (['CreateContainerError', 'RunContainerError', 'PreStartHookError', 'PostStartHookError'].includes(reason))
    return creationTrouble(status, waiting?.message, around);
  if (reason === 'CrashLoopBackOff') return crashTrouble(status, status.lastState?.terminated, around);
  if (terminated !== undefined) {
    const isDone = isInit && terminated.exitCode === 0;
    return isDone ? undefined : crashTrouble(status, terminated, around);
  }
  if (running === undefined || status.ready || isInit) return undefined;
  // Between two crashes it runs for a while: that is no reason to call it something else.
  const last = status.lastState?.terminated;
  if (last !== undefined && isWithin(last.finishedAt, CRASH_MEMORY_MS, around.now))
    return crashTrouble(status, last, around);
  return isWithin(running.startedAt, PATIENCE_MS, around.now) ? undefined : probeTrouble(status, around);
}

/** The container of a template by its name. */
function containerOf({ template }: Surrounding, name: string): Container | undefined {
  const { containers = [], initContainers = [] } = template?.spec ?? {};
  return [...containers, ...initContainers].find((one) => one.name === name);
}

function crashTrouble(
  status: ContainerStatus,
  last: ContainerStateTerminated | undefined,
  around: Surrounding,
): Trouble {
  const { name, restartCount } = status;
  const restarts = restartCount > 0 ? [plural(restartCount, 'restart')] : [];
  if (last?.reason === 'OOMKilled') {
    const limit = containerOf(around, name)?.resources?.limits?.memory;
    const facts = ['OOMKilled', ...(limit === undefined ? [] : [`limit ${limit}`]), ...restarts];
    return {
      reason: 'OutOfMemory',
      key: name,
      text: `container ${name} runs out of memory (${facts.join(', ')})`,
      remedy:
        limit === undefined
          ? 'the node has too little memory for it'
          : `raise the limit by ${resourcesPath(name, around)}`,
    };
  }
  const facts = [...(last === undefined ? [] : [exitText(last)]), ...restarts];
  const said = last?.message === undefined ? '' : shorten(withoutSecrets(last.message, around.template), 140);
  const isFirst = restartCount === 0 && status.state?.terminated !== undefined;
  const verdict = `container ${name} ${isFirst ? 'failed' : 'crashes'}`;
  return {
    reason: 'CrashLoop',
    key: `${name} ${last?.exitCode}`,
    text: `${verdict}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}${said === '' ? '' : `: ${said}`}`,
    remedy: `see kubectl logs -n ${around.namespace} ${around.pod} -c ${name}${isFirst ? '' : ' --previous'}`,
  };
}

/** The meaning of exit codes by the conventions of shells: from 128 on, the signal that ended it. */
const exitMeanings: Readonly<Record<number, string>> = {
  126: 'command cannot be executed',
  127: 'command not found',
  134: 'aborted',
  137: 'killed',
  139: 'segmentation fault',
  143: 'told to end',
};

function exitText({ exitCode, reason }: ContainerStateTerminated): string {
  if (exitCode === 0) return 'ends by itself with exit code 0';
  const said = reason === undefined || reason === 'Error' ? undefined : reason;
  const meaning = said ?? exitMeanings[exitCode];
  return `exit code ${exitCode}${meaning === undefined ? '' : `, ${meaning}`}`;
}

/** Overrides by name reach the first container; for others there is the template. */
function resourcesPath(name: string, { template, override }: Surrounding): string {
  const first = template?.spec?.containers[0]?.name;
  return first === name ? `${override}.resources` : `${override}.podTemplate`;
}

/** A ConfigMap, a Secret or a key that is not there; or a container that may not be as it is asked for. */
function configTrouble(status: ContainerStatus, message: string | undefined, around: Surrounding): Trouble {
  const said = shorten(withoutSecrets(message ?? '', around.template), 200);
  const isMissing = /not found|couldn't find key|non-existent/i.test(said);
  if (!isMissing) return creationTrouble(status, message, around);
  return {
    reason: 'ConfigMissing',
    key: `${status.name} ${said}`,
    text: `container ${status.name} cannot be created: ${said}`,
    remedy: /key/i.test(said) ? 'add the key' : `create it in namespace ${around.namespace}`,
  };
}

function creationTrouble({ name }: ContainerStatus, message: string | undefined, around: Surrounding): Trouble {
  const said = shorten(withoutSecrets(message ?? '', around.template), 200);
  return {
    reason: 'ContainerNotCreated',
    key: name,
    text: `container ${name} cannot be started${said === '' ? '' : `: ${said}`}`,
    remedy: `see kubectl describe pod -n ${around.namespace} ${around.pod}`,
  };
}

function probeTrouble({ name, started }: ContainerStatus, around: Surrounding): Trouble {
  const container = containerOf(around, name);
  const [which, probe] =
    started === false && container?.startupProbe !== undefined
      ? (['startup', container.startupProbe] as const)
      : (['readiness', container?.readinessProbe] as const);
  const target = probe === undefined ? '' : ` (${probeTarget(probe)})`;
  return {
    reason: 'ProbeFailing',
    key: `${name} ${which}`,
    text: `container ${name} runs but is not ready: its ${which} probe${target} fails`,
    remedy: `see kubectl logs -n ${around.namespace} ${around.pod} -c ${name}`,
  };
}

/** What a probe asks. Of a command nothing is told: it may hold anything. */
function probeTarget({ httpGet, tcpSocket, grpc }: Probe): string {
  if (httpGet !== undefined) return `GET :${httpGet.port}${httpGet.path ?? '/'}`;
  if (tcpSocket !== undefined) return `port ${tcpSocket.port}`;
  return grpc === undefined ? 'a command' : `gRPC port ${grpc.port}`;
}

/** Whether something happened no longer ago than this; what has no time did not. */
export function isWithin(time: string | undefined, ms: number, now: Date): boolean {
  return time !== undefined && now.getTime() - Date.parse(time) < ms;
}
