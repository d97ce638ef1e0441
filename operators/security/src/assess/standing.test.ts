import { describe, it } from 'vitest';
import { type Case, check } from './testing/case.ts';
import { ago, condition, container, containerIn, failedCreate, falco, gateway, podOf } from './testing/recorded.ts';
import { crashed, crashLoop, pulling, running, short } from './testing/statuses.ts';

const memory = { resources: { limits: { memory: '512Mi' } } };
const waitingForMounts = (seconds: number) => ({
  phase: 'Pending',
  conditions: [
    condition('PodScheduled', 'True'),
    { ...condition('PodReadyToStartContainers', 'False'), lastTransitionTime: ago(seconds) },
  ],
  containerStatuses: [
    {
      name: 'falco',
      image: 'i',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { waiting: { reason: 'ContainerCreating' } },
    },
  ],
});

const cases: readonly Case[] = [
  {
    given: 'a DaemonSet that runs everywhere',
    workloads: [falco()],
    status: 'True',
    reason: 'Ready',
    message: 'Falco running on 3/3 nodes',
    counts: [3, 3],
  },
  {
    given: 'a Deployment that runs',
    title: 'Gateway',
    workloads: [gateway()],
    status: 'True',
    reason: 'Ready',
    message: 'Gateway running with 2/2 replicas',
    counts: [2, 2],
  },
  {
    given: 'one of each',
    title: 'Pipeline',
    workloads: [falco(), gateway()],
    status: 'True',
    reason: 'Ready',
    message: 'Pipeline running on 3/3 nodes and with 2/2 replicas',
    counts: [5, 5],
  },
  {
    given: 'old troubles of a DaemonSet that runs everywhere by now',
    workloads: [falco()],
    around: [podOf(falco(), 'node-1', crashLoop(1)), failedCreate(falco(), 'Error creating: nothing')],
    status: 'True',
    reason: 'Ready',
    message: 'Falco running on 3/3 nodes',
    counts: [3, 3],
  },
  {
    given: 'one node of three (the seed called that ready)',
    workloads: [short(1)],
    reason: 'Progressing',
    message: 'Falco running on 1/3 nodes; the others are starting',
    counts: [1, 3],
  },
  {
    given: 'a DaemonSet that nobody has looked at yet',
    workloads: [{ ...falco(), status: {} }],
    reason: 'Progressing',
    message: 'Falco running on 0/0 nodes; the controller of DaemonSet falco has not seen the latest change yet',
    counts: [0, 0],
  },
  {
    given: 'a change that its controller has not seen, whatever its pods suffered before it',
    workloads: [{ ...short(2), metadata: { ...falco().metadata, generation: 2 } }],
    around: [podOf(falco(), 'node-1', crashLoop(1))],
    reason: 'Progressing',
    message: 'Falco running on 2/3 nodes; the controller of DaemonSet falco has not seen the latest change yet',
    counts: [2, 3],
  },
  {
    given: 'a roll-out on its way',
    workloads: [falco({ updatedNumberScheduled: 2 })],
    reason: 'RollingOut',
    message: 'Falco running on 3/3 nodes; 2/3 nodes updated',
    counts: [3, 3],
  },
  {
    given: 'a Deployment with a pod of the old version left',
    title: 'Gateway',
    workloads: [gateway({ replicas: 3 })],
    reason: 'RollingOut',
    message:
      'Gateway running with 2/2 replicas; Deployment otel-gateway: 2/2 replicas ready, 1 of an older version still there',
    counts: [2, 2],
  },
  {
    given: 'a selector that fits no node',
    workloads: [falco({ desiredNumberScheduled: 0, numberReady: 0 }, { nodeSelector: { gpu: 'true' } })],
    reason: 'NoMatchingNode',
    message:
      'Falco running on 0/0 nodes; no node takes it: none matches nodeSelector gpu=true, or those that do have a taint that it ' +
      'does not tolerate → label nodes',
    counts: [0, 0],
  },
  {
    given: 'taints everywhere',
    workloads: [falco({ desiredNumberScheduled: 0, numberReady: 0 })],
    reason: 'NoMatchingNode',
    message:
      'Falco running on 0/0 nodes; no node takes it: each has a taint that it does not tolerate, or there is none → ' +
      'add what is missing to spec.override.perTool.falco.tolerations',
    counts: [0, 0],
  },
  {
    given: 'an image that two nodes cannot pull, one of them about to try again',
    workloads: [short(1)],
    around: [
      podOf(falco(), 'node-3', pulling('ErrImagePull')),
      podOf(falco(), 'node-2', pulling('ImagePullBackOff')),
      podOf(falco(), 'node-1', { phase: 'Running' }),
    ],
    reason: 'ImagePullFailed',
    message:
      'Falco running on 1/3 nodes; on node-2 and node-3: image registry.example/falco:1.0 cannot be pulled: not found → ' +
      'check its name and tag',
    counts: [1, 3],
  },
  {
    given: 'a tool that crashes, with its last words',
    workloads: [short(2)],
    around: [podOf(falco(), 'node-2', crashLoop(1, { message: 'Error: cannot load rules\n  at line 3' }))],
    reason: 'CrashLoop',
    message:
      'Falco running on 2/3 nodes; on node-2: container falco crashes (exit code 1, 5 restarts): Error: cannot load rules at line 3 → ' +
      'see kubectl logs -n security-system falco-node-2 -c falco --previous',
    counts: [2, 3],
  },
  {
    given: 'a crash a moment ago, before the next try is called off',
    workloads: [short(2)],
    around: [podOf(falco(), 'node-2', containerIn('falco', { terminated: crashed(127) }, { restartCount: 1 }))],
    reason: 'CrashLoop',
    message:
      'Falco running on 2/3 nodes; on node-2: container falco crashes (exit code 127, command not found, 1 restart) → ' +
      'see kubectl logs -n security-system falco-node-2 -c falco --previous',
    counts: [2, 3],
  },
  {
    given: 'the short life between two crashes',
    workloads: [short(2)],
    around: [
      podOf(
        falco(),
        'node-2',
        containerIn(
          'falco',
          { running: { startedAt: ago(2) } },
          { restartCount: 6, lastState: { terminated: crashed(139) } },
        ),
      ),
    ],
    reason: 'CrashLoop',
    message:
      'Falco running on 2/3 nodes; on node-2: container falco crashes (exit code 139, segmentation fault, 6 restarts) → ' +
      'see kubectl logs -n security-system falco-node-2 -c falco --previous',
    counts: [2, 3],
  },
  {
    given: 'a tool that needs more memory than it may have',
    workloads: [falco({ numberReady: 2 }, { containers: [container('falco', memory)] })],
    around: [podOf(falco(), 'node-3', crashLoop(137, { reason: 'OOMKilled' }))],
    reason: 'OutOfMemory',
    message:
      'Falco running on 2/3 nodes; on node-3: container falco runs out of memory (OOMKilled, limit 512Mi, 5 restarts) → ' +
      'raise the limit by spec.override.perTool.falco.resources',
    counts: [2, 3],
  },
  {
    given: 'a Secret that is not there',
    title: 'Gateway',
    workloads: [gateway({ readyReplicas: 0, availableReplicas: 0 })],
    around: [
      podOf(
        gateway(),
        'node-1',
        containerIn('otel-gateway', {
          waiting: { reason: 'CreateContainerConfigError', message: 'secret "store" not found' },
        }),
      ),
    ],
    reason: 'ConfigMissing',
    message:
      'Gateway running with 0/2 replicas; pod otel-gateway-node-1 on node-1: container otel-gateway cannot be created: ' +
      'secret "store" not found → create it in namespace security-system',
    counts: [0, 2],
  },
  {
    given: 'an image that insists on root',
    workloads: [short(2)],
    around: [
      podOf(
        falco(),
        'node-1',
        containerIn('falco', {
          waiting: {
            reason: 'CreateContainerConfigError',
            message: 'container has runAsNonRoot and image will run as root',
          },
        }),
      ),
    ],
    reason: 'ContainerNotCreated',
    message:
      'Falco running on 2/3 nodes; on node-1: container falco cannot be started: container has runAsNonRoot and image will run as root → ' +
      'see kubectl describe pod -n security-system falco-node-1',
    counts: [2, 3],
  },
  {
    given: 'a node without room',
    workloads: [short(2)],
    around: [
      podOf(falco(), undefined, {
        phase: 'Pending',
        conditions: [
          condition(
            'PodScheduled',
            'False',
            'Unschedulable',
            "0/3 nodes are available: 1 Insufficient memory, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to " +
              'deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
          ),
        ],
      }),
    ],
    reason: 'Unschedulable',
    message:
      'Falco running on 2/3 nodes; on node-9: no room: 1 Insufficient memory → free the node, or ask for less by ' +
      'spec.override.perTool.falco.resources',
    counts: [2, 3],
  },
  {
    given: 'a volume that nobody provides',
    workloads: [short(2)],
    around: [
      podOf(falco(), undefined, {
        phase: 'Pending',
        conditions: [
          condition(
            'PodScheduled',
            'False',
            'Unschedulable',
            '0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
          ),
        ],
      }),
    ],
    reason: 'Unschedulable',
    message:
      'Falco running on 2/3 nodes; on node-9: its volume is not there: pod has unbound immediate PersistentVolumeClaims. not found → ' +
      'see kubectl get pvc, and whether the cluster has the StorageClass',
    counts: [2, 3],
  },
  {
    given: 'volumes that do not come',
    workloads: [
      falco(
        { numberReady: 2 },
        {
          volumes: [
            { name: 'config', configMap: { name: 'falco-config' } },
            { name: 'extra', secret: { secretName: 'maybe', optional: true } },
            { name: 'socket', hostPath: { path: '/run/containerd.sock', type: 'Socket' } },
            { name: 'logs', hostPath: { path: '/var/log/security', type: 'DirectoryOrCreate' } },
          ],
        },
      ),
    ],
    around: [podOf(falco(), 'node-1', waitingForMounts(90))],
    reason: 'NotStarted',
    message:
      'Falco running on 2/3 nodes; on node-1: waits for its network or its volumes (ConfigMap falco-config and hostPath ' +
      '/run/containerd.sock) → see kubectl describe pod -n security-system falco-node-1',
    counts: [2, 3],
  },
  {
    given: 'volumes that have had no time to come',
    workloads: [short(2)],
    around: [podOf(falco(), 'node-1', waitingForMounts(20))],
    reason: 'Progressing',
    message: 'Falco running on 2/3 nodes; the others are starting',
    counts: [2, 3],
  },
  {
    given: 'a probe that fails',
    workloads: [
      falco(
        { numberReady: 2 },
        { containers: [container('falco', { readinessProbe: { httpGet: { port: 8765, path: '/healthz' } } })] },
      ),
    ],
    around: [podOf(falco(), 'node-1', containerIn('falco', { running }, { started: true }))],
    reason: 'ProbeFailing',
    message:
      'Falco running on 2/3 nodes; on node-1: container falco runs but is not ready: its readiness probe (GET :8765/healthz) fails → ' +
      'see kubectl logs -n security-system falco-node-1 -c falco',
    counts: [2, 3],
  },
  {
    given: 'a tool that takes long to start',
    workloads: [
      falco({ numberReady: 2 }, { containers: [container('falco', { startupProbe: { tcpSocket: { port: 5044 } } })] }),
    ],
    around: [podOf(falco(), 'node-1', containerIn('falco', { running }, { started: false }))],
    reason: 'ProbeFailing',
    message:
      'Falco running on 2/3 nodes; on node-1: container falco runs but is not ready: its startup probe (port 5044) fails → ' +
      'see kubectl logs -n security-system falco-node-1 -c falco',
    counts: [2, 3],
  },
  {
    given: 'a probe that fails long after the last crash',
    workloads: [short(2)],
    around: [
      podOf(
        falco(),
        'node-1',
        containerIn(
          'falco',
          { running: { startedAt: ago(3500) } },
          { restartCount: 1, lastState: { terminated: crashed(1, { finishedAt: ago(3600) }) } },
        ),
      ),
    ],
    reason: 'ProbeFailing',
    message:
      'Falco running on 2/3 nodes; on node-1: container falco runs but is not ready: its readiness probe fails → ' +
      'see kubectl logs -n security-system falco-node-1 -c falco',
    counts: [2, 3],
  },
  {
    given: 'init containers that are done, or take their time',
    workloads: [short(1)],
    around: [
      podOf(falco(), 'node-1', {
        phase: 'Pending',
        initContainerStatuses: containerIn('driver', { terminated: { exitCode: 0 } }).containerStatuses ?? [],
        containerStatuses: containerIn('falco', { waiting: { reason: 'PodInitializing' } }).containerStatuses ?? [],
      }),
      podOf(falco(), 'node-2', {
        phase: 'Pending',
        initContainerStatuses: containerIn('driver', { running }).containerStatuses ?? [],
        containerStatuses: containerIn('falco', { waiting: { reason: 'PodInitializing' } }).containerStatuses ?? [],
      }),
    ],
    reason: 'Progressing',
    message: 'Falco running on 1/3 nodes; the others are starting',
    counts: [1, 3],
  },
  {
    given: 'a pod that somebody else has yet to declare ready',
    workloads: [short(2)],
    around: [
      podOf(falco(), 'node-2', {
        ...containerIn('falco', { running }, { ready: true }),
        conditions: [condition('ContainersReady', 'True'), condition('Ready', 'False', 'ReadinessGatesNotReady')],
      }),
    ],
    reason: 'Progressing',
    message: 'Falco running on 2/3 nodes; the others are starting',
    counts: [2, 3],
  },
  {
    given: 'pods that could not be made a moment ago, and are there now',
    workloads: [short(2)],
    around: [
      failedCreate(falco(), 'Error creating: pods "falco-x" is forbidden: exceeded quota: q, requested: pods=1'),
    ],
    reason: 'Progressing',
    message: 'Falco running on 2/3 nodes; the others are starting',
    counts: [2, 3],
  },
  {
    given: 'a tool that has had no time to become ready',
    workloads: [short(2)],
    around: [podOf(falco(), 'node-1', containerIn('falco', { running: { startedAt: ago(5) } }))],
    reason: 'Progressing',
    message: 'Falco running on 2/3 nodes; the others are starting',
    counts: [2, 3],
  },
  {
    given: 'a node that went away',
    workloads: [short(2)],
    around: [
      podOf(falco(), 'node-2', {
        ...containerIn('falco', { running }, { ready: true }),
        // The node lifecycle controller takes back the readiness of the pod, and of nothing else.
        conditions: [condition('ContainersReady', 'True'), condition('Ready', 'False')],
      }),
    ],
    reason: 'NodeUnreachable',
    message: 'Falco running on 2/3 nodes; on node-2: the node no longer reports → see kubectl get nodes',
    counts: [2, 3],
  },
  {
    given: 'an evicted pod',
    workloads: [short(2)],
    around: [
      podOf(falco(), 'node-2', {
        phase: 'Failed',
        reason: 'Evicted',
        message: 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 52Ki.',
      }),
    ],
    reason: 'Evicted',
    message:
      'Falco running on 2/3 nodes; on node-2: evicted: The node was low on resource: memory. Threshold quantity: 100Mi, available: 52Ki. → ' +
      'free the node, or raise the requests by spec.override.perTool.falco.resources',
    counts: [2, 3],
  },
  {
    given: 'an init container that fails',
    workloads: [short(2)],
    around: [
      podOf(falco(), 'node-2', {
        phase: 'Pending',
        initContainerStatuses:
          containerIn('driver', { terminated: crashed(1) }, { restartCount: 2 }).containerStatuses ?? [],
        containerStatuses: containerIn('falco', { waiting: { reason: 'PodInitializing' } }).containerStatuses ?? [],
      }),
    ],
    reason: 'CrashLoop',
    message:
      'Falco running on 2/3 nodes; on node-2: container driver crashes (exit code 1, 2 restarts) → ' +
      'see kubectl logs -n security-system falco-node-2 -c driver --previous',
    counts: [2, 3],
  },
  {
    given: 'pods that Pod Security forbids, told by the newest event',
    workloads: [falco({ currentNumberScheduled: 0, updatedNumberScheduled: 0, numberReady: 0 })],
    around: [
      failedCreate(falco(), 'Error creating: pods "falco-old" is forbidden: something else', 900),
      failedCreate(
        falco(),
        '(combined from similar events): Error creating: pods "falco-9zzfq" is forbidden: violates PodSecurity "baseline:latest": ' +
          'host namespaces (hostNetwork=true, hostPID=true), hostPath volumes (volumes "proc", "dev"), privileged (container "falco" ' +
          'must not set securityContext.privileged=true)',
        10,
      ),
    ],
    reason: 'PodSecurityForbidden',
    message:
      "Falco running on 0/3 nodes; forbidden by Pod Security level 'baseline' of namespace security-system: hostNetwork, hostPID, hostPath " +
      'volumes and privileged → kubectl label --overwrite namespace security-system pod-security.kubernetes.io/enforce=privileged',
    counts: [0, 3],
  },
  {
    given: 'an event of a DaemonSet of the same name that was there before',
    workloads: [falco({ currentNumberScheduled: 2, numberReady: 2 })],
    around: [failedCreate({ ...falco(), metadata: { name: 'falco', uid: 'uid-before' } }, 'Error creating: no')],
    reason: 'Progressing',
    message: 'Falco running on 2/3 nodes; pods are being made',
    counts: [2, 3],
  },
  {
    given: 'an event of an hour ago',
    workloads: [falco({ currentNumberScheduled: 2, numberReady: 2 })],
    around: [failedCreate(falco(), 'Error creating: no', 3000)],
    reason: 'Progressing',
    message: 'Falco running on 2/3 nodes; pods are being made',
    counts: [2, 3],
  },
  {
    given: 'a Deployment whose pods a quota forbids',
    title: 'Gateway',
    workloads: [
      gateway({
        replicas: 1,
        readyReplicas: 1,
        availableReplicas: 1,
        updatedReplicas: 1,
        conditions: [
          {
            type: 'ReplicaFailure',
            status: 'True',
            reason: 'FailedCreate',
            message:
              'pods "otel-gateway-6f-x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=4, limited: pods=4',
          },
        ],
      }),
    ],
    reason: 'QuotaExceeded',
    message:
      'Gateway running with 1/2 replicas; forbidden by ResourceQuota small of namespace security-system: requested: pods=1, used: pods=4, ' +
      'limited: pods=4 → raise the quota',
    counts: [1, 2],
  },
  {
    given: 'several troubles: the most telling gives the reason, and all are told by workload',
    title: 'Pipeline',
    workloads: [falco({ numberReady: 1 }), gateway({ readyReplicas: 1, availableReplicas: 1 })],
    around: [podOf(falco(), 'node-1', crashLoop(2)), podOf(falco(), 'node-2', pulling('ImagePullBackOff'))],
    reason: 'ImagePullFailed',
    message:
      'Pipeline running on 1/3 nodes and with 1/2 replicas; falco: on node-2: image registry.example/falco:1.0 cannot be pulled: not found → ' +
      'check its name and tag; falco: on node-1: container falco crashes (exit code 2, 5 restarts) → ' +
      'see kubectl logs -n security-system falco-node-1 -c falco --previous; otel-gateway: the others are starting',
    counts: [2, 5],
  },
];

describe('assessWorkloads', () => {
  it.each(cases)('tells of $given', (one) => check(one));
});
