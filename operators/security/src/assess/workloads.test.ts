import { defineKind, type KubeObject, type Pod, type ServiceAccount } from '@keelson/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ago,
  condition,
  container,
  containerIn,
  contextOf,
  failedCreate,
  falco,
  gateway,
  podOf,
  podOfRun,
  trivy,
} from './testing/recorded.ts';
import { LONGEST_MESSAGE } from './text.ts';
import { assessWorkloads } from './workloads.ts';

const PULL_FAILED =
  'rpc error: code = NotFound desc = failed to pull and unpack image "registry.example/falco:1.0": failed to resolve reference ' +
  '"registry.example/falco:1.0": registry.example/falco:1.0: not found';
const pulling = (reason: 'ErrImagePull' | 'ImagePullBackOff') =>
  containerIn('falco', {
    waiting: {
      reason,
      message:
        reason === 'ErrImagePull'
          ? PULL_FAILED
          : `Back-off pulling image "registry.example/falco:1.0": ErrImagePull: ${PULL_FAILED}`,
    },
  });
const crashed = (exitCode: number, more: object = {}) => ({ exitCode, reason: 'Error', finishedAt: ago(40), ...more });
const crashLoop = (exitCode: number, more: object = {}, restartCount = 5) =>
  containerIn(
    'falco',
    {
      waiting: { reason: 'CrashLoopBackOff', message: 'back-off 2m40s restarting failed container=falco pod=falco-x' },
    },
    { restartCount, lastState: { terminated: crashed(exitCode, more) } },
  );
const running = { startedAt: ago(200) };

interface Case {
  readonly given: string;
  readonly title?: string;
  /** What is wanted and exists. */
  readonly workloads: readonly KubeObject[];
  readonly around?: readonly KubeObject[];
  readonly status?: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly counts?: readonly [ready: number, desired: number];
}

const short = (ready: number) => falco({ numberReady: ready });
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
      'Falco running on 0/0 nodes; no node matches nodeSelector gpu=true → label nodes, or change spec.override.perTool.falco.nodeSelector; ' +
      'a node that does match has a taint that is not tolerated',
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
  {
    given: 'a schedule that has not come round yet',
    title: 'Trivy',
    workloads: [trivy()],
    status: 'True',
    reason: 'Ready',
    message: 'Trivy scheduled at 0 */6 * * *, has not run yet',
  },
  {
    given: 'a run that succeeded',
    title: 'Trivy',
    workloads: [trivy({ lastScheduleTime: ago(3600), lastSuccessfulTime: ago(3500) })],
    status: 'True',
    reason: 'Ready',
    message: `Trivy scheduled at 0 */6 * * *, last success at ${ago(3500)}`,
  },
  {
    given: 'a run that goes on',
    title: 'Trivy',
    workloads: [trivy({ lastScheduleTime: ago(60), active: [{ name: 'trivy-29539440' }] })],
    around: [podOfRun(containerIn('trivy', { running }, { ready: true }), 60)],
    status: 'True',
    reason: 'Ready',
    message: 'Trivy scheduled at 0 */6 * * *, runs now',
  },
  {
    given: 'a run that failed after one that did not',
    title: 'Trivy',
    workloads: [trivy({ lastScheduleTime: ago(3600), lastSuccessfulTime: ago(30_000) })],
    around: [podOfRun({ ...containerIn('trivy', { terminated: crashed(1) }), phase: 'Failed' }, 3600)],
    reason: 'JobFailed',
    message:
      `Trivy scheduled at 0 */6 * * *, the run of ${ago(3600)} failed, last success at ${ago(30_000)}; pod trivy-29539440-x7k2p on node-1: ` +
      'container trivy failed (exit code 1) → see kubectl logs -n security-system trivy-29539440-x7k2p -c trivy',
  },
  {
    given: 'a run that failed, and whose pods are gone',
    title: 'Trivy',
    workloads: [trivy({ lastScheduleTime: ago(3600) })],
    reason: 'JobFailed',
    message: `Trivy scheduled at 0 */6 * * *, the run of ${ago(3600)} failed`,
  },
  {
    given: 'a run that cannot pull its image',
    title: 'Trivy',
    workloads: [trivy({ lastScheduleTime: ago(60), active: [{ name: 'trivy-29539440' }] })],
    around: [
      podOfRun(containerIn('trivy', { waiting: { reason: 'ErrImagePull', message: 'pull access denied' } }), 60),
    ],
    reason: 'ImagePullFailed',
    message:
      'Trivy scheduled at 0 */6 * * *; pod trivy-29539440-x7k2p on node-1: image registry.example/trivy:1.0 cannot be pulled: pull access denied → ' +
      'check its name, and name a Secret that may pull it in spec.global.imagePullSecrets',
  },
  {
    given: 'a suspended CronJob',
    title: 'Trivy',
    workloads: [trivy({}, true)],
    reason: 'Suspended',
    message: 'Trivy scheduled at 0 */6 * * *, but suspended: nothing runs',
  },
];

describe('assessWorkloads', () => {
  it.each(cases)(
    'tells of $given',
    ({ title = 'Falco', workloads, around = [], status = 'False', reason, message, counts }) => {
      const assessment = assessWorkloads(contextOf(title, workloads, [...workloads, ...around]));
      expect(assessment).toEqual({
        status,
        reason,
        message,
        ...(counts === undefined ? {} : { ready: counts[0], desired: counts[1] }),
      });
    },
  );

  const account: ServiceAccount = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'falco', namespace: 'security-system' },
  };
  const Policy = defineKind({
    group: 'example.io',
    version: 'v1',
    kind: 'Policy',
    plural: 'policies',
    scope: 'Cluster',
  });
  const policy = (status: object = {}): KubeObject => ({
    apiVersion: 'example.io/v1',
    kind: 'Policy',
    metadata: { name: 'guard' },
    status,
  });

  it('is not satisfied before everything exists, and names the workload first', () => {
    const nothing = assessWorkloads(contextOf('Falco', [account, falco()], []));
    expect(nothing).toMatchObject({ status: 'False', reason: 'DaemonSetNotFound' });
    expect(nothing.message).toBe('Falco: ServiceAccount falco and DaemonSet falco do not exist yet');
    const nearly = assessWorkloads(contextOf('Falco', [account, falco()], [falco()]));
    expect(nearly).toEqual({
      status: 'False',
      reason: 'NotApplied',
      message: 'Falco: ServiceAccount falco does not exist yet',
    });
  });

  describe('when something could not be applied', () => {
    const refused = 'could not apply DaemonSet security-system/falco: may not be created by this account; ask for it';
    const failure = (message: string) => ({ failure: { reason: 'Forbidden', message } });

    it('tells why what is missing is missing', () => {
      const { message } = assessWorkloads(contextOf('Falco', [falco()], [], failure(refused)));
      expect(message).toBe(`Falco: DaemonSet falco does not exist yet: ${refused}`);
    });

    it('is not satisfied with what runs, for it is not what is wanted', () => {
      expect(assessWorkloads(contextOf('Falco', [falco()], [falco()], failure(refused)))).toEqual({
        status: 'False',
        reason: 'Forbidden',
        message: `Falco running on 3/3 nodes; ${refused}`,
        ready: 3,
        desired: 3,
      });
    });

    it('leaves other features alone', () => {
      const others =
        'could not apply DaemonSet security-system/falco-extra: no; ConfigMap security-system/falco is not ours';
      expect(assessWorkloads(contextOf('Falco', [falco()], [falco()], failure(others))).status).toBe('True');
    });

    it('takes from a long message only what is its own', () => {
      const both = `could not apply CronJob security-system/trivy: bad schedule; ${refused}; likewise Service security-system/x`;
      const { message } = assessWorkloads(contextOf('Falco', [falco()], [falco()], failure(both)));
      expect(message).toBe(`Falco running on 3/3 nodes; ${refused}`);
    });
  });

  it('takes what is being deleted for gone', () => {
    const leaving = { ...falco(), metadata: { ...falco().metadata, deletionTimestamp: ago(1) } };
    expect(assessWorkloads(contextOf('Falco', [falco()], [leaving])).reason).toBe('DaemonSetNotFound');
  });

  it('judges objects of other kinds by their Ready condition, and a feature of policies by these alone', () => {
    const context = (live: KubeObject) => contextOf('Guard', [policy()], [live], { kinds: [Policy] });
    expect(assessWorkloads(context(policy()))).toEqual({
      status: 'True',
      reason: 'Ready',
      message: 'Guard applied, 1 object',
    });
    const refusing = policy({
      conditions: [{ type: 'Ready', status: 'False', reason: 'Bad', message: 'no such field' }],
    });
    expect(assessWorkloads(context(refusing))).toEqual({
      status: 'False',
      reason: 'NotReady',
      message: 'Guard applied, 1 object; Policy guard: Bad: no such field',
    });
    expect(assessWorkloads(contextOf('Guard', [policy()], [], { kinds: [Policy] })).reason).toBe('NotApplied');
  });

  it('looks at no pod of anybody else, and at none that is going', () => {
    const foreign = podOf(gateway(), 'node-1', pulling('ErrImagePull'));
    const elsewhere = podOf(falco(), 'node-1', pulling('ErrImagePull'));
    const going = podOf(falco(), 'node-2', pulling('ErrImagePull'));
    const around = [
      foreign,
      { ...elsewhere, metadata: { ...elsewhere.metadata, namespace: 'other' } },
      { ...going, metadata: { ...going.metadata, deletionTimestamp: ago(1) } },
    ];
    expect(assessWorkloads(contextOf('Falco', [short(1)], [short(1), ...around])).reason).toBe('Progressing');
  });

  it('names some of many nodes, in their order', () => {
    const nodes = Array.from({ length: 20 }, (_, index) => `node-${20 - index}`);
    const set = falco({ desiredNumberScheduled: 20, currentNumberScheduled: 20, numberReady: 0 });
    const pods = nodes.map((node) => podOf(set, node, pulling('ErrImagePull')));
    const { message } = assessWorkloads(contextOf('Falco', [set], [set, ...pods]));
    expect(message).toMatch(/^Falco running on 0\/20 nodes; on node-1, node-2, node-3 and 17 more: image/);
  });

  it('shows no value of an environment, whatever a tool says at its end', () => {
    const env = [
      { name: 'STORE_PASSWORD', value: 'hunter2-hunter2' },
      { name: 'MODE', value: 'on' },
    ];
    const set = falco({ numberReady: 2 }, { containers: [container('falco', { env })] });
    const said = 'login with hunter2-hunter2 failed on https://me:pw@store:9200, Authorization: Bearer abcdef123456';
    const { message } = assessWorkloads(
      contextOf('Falco', [set], [set, podOf(set, 'node-1', crashLoop(1, { message: said }))]),
    );
    expect(message).toContain('login with $STORE_PASSWORD failed on https://…@store:9200, Authorization: Bearer …');
    expect(message).not.toMatch(/hunter2|pw@|abcdef/);
  });
});

describe('the words about any cluster', () => {
  const text = fc.string({ maxLength: 2000 });
  const reason = fc.constantFrom(
    'ErrImagePull',
    'ImagePullBackOff',
    'InvalidImageName',
    'CrashLoopBackOff',
    'CreateContainerConfigError',
    'CreateContainerError',
    'ContainerCreating',
    'Unheard',
  );
  const status = fc.oneof(
    fc.record({ reason, message: text }).map((waiting) => containerIn('falco', { waiting })),
    fc.tuple(fc.nat(255), text, fc.nat(9)).map(([code, message, restarts]) => crashLoop(code, { message }, restarts)),
    text.map((message) => ({ phase: 'Failed', reason: 'Evicted', message })),
    text.map((message) => ({
      phase: 'Pending',
      conditions: [condition('PodScheduled', 'False', 'Unschedulable', message)],
    })),
    fc.constant({ phase: 'Running' }),
  );
  const secret = 'a-secret-of-somebody';
  const set = (ready: number) =>
    falco(
      { numberReady: ready, currentNumberScheduled: 2 },
      { containers: [container('falco', { env: [{ name: 'KEY', value: secret }] })] },
    );

  it('are bounded, the same in any order, and tell no secret', () => {
    fc.assert(
      fc.property(fc.array(status, { maxLength: 6 }), text, fc.nat(2), fc.boolean(), (statuses, note, ready, leaks) => {
        const live = set(ready);
        const pods = statuses.map((one, index): Pod => {
          const leaking = crashLoop(1, { message: `${secret} is no good` });
          return podOf(live, `node-${index}`, leaks && index === 0 ? leaking : one);
        });
        const around: KubeObject[] = [...pods, failedCreate(live, note)];
        const assessment = assessWorkloads(contextOf('Falco', [live], [live, ...around]));
        expect(assessment.status).toBe('False');
        expect(assessment.reason).toMatch(/^[A-Z][A-Za-z]+$/);
        expect(assessment.message.length).toBeLessThanOrEqual(LONGEST_MESSAGE);
        expect(assessment.message).not.toMatch(/\n/);
        expect(assessment.message).not.toContain(secret);
        expect(assessWorkloads(contextOf('Falco', [live], [...around.toReversed(), live]))).toEqual(assessment);
      }),
      { numRuns: 300 },
    );
  });
});
