import {
  ConfigMap,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  defineKind,
  Job,
  type Kind,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  Service,
  StatefulSet,
} from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { readinessOf } from './readiness.ts';

const Certificate = defineKind({
  group: 'cert-manager.io',
  version: 'v1',
  kind: 'Certificate',
  plural: 'certificates',
  scope: 'Namespaced',
});
/** A kind of somebody else that merely has a familiar name. */
const OtherService = defineKind({
  group: 'serving.knative.dev',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  scope: 'Namespaced',
});

type Body = { spec?: object; status?: object; generation?: number };
const condition = (type: string, status: string, reason = 'R', message = 'm') => ({ type, status, reason, message });

const cases: [string, Kind, Body, 'ready' | 'progressing' | 'failed', string][] = [
  [
    'a rolled-out Deployment',
    Deployment,
    { spec: { replicas: 3 }, status: { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 } },
    'ready',
    'ready',
  ],
  [
    'a Deployment whose pods start',
    Deployment,
    { spec: { replicas: 3 }, status: { replicas: 3, updatedReplicas: 3, readyReplicas: 1, availableReplicas: 1 } },
    'progressing',
    '1/3 replicas ready',
  ],
  [
    'a Deployment in mid-rollout',
    Deployment,
    { spec: { replicas: 2 }, status: { replicas: 3, updatedReplicas: 2, readyReplicas: 3, availableReplicas: 3 } },
    'progressing',
    '3/2 replicas ready, 1 of an older version still there',
  ],
  ['a Deployment without a status', Deployment, { spec: {} }, 'progressing', '0/1 replicas ready'],
  ['a Deployment scaled to nothing', Deployment, { spec: { replicas: 0 }, status: {} }, 'ready', 'ready'],
  [
    'a Deployment behind its spec',
    Deployment,
    {
      spec: { replicas: 1 },
      generation: 2,
      status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
    },
    'progressing',
    'its controller has not seen the latest change yet',
  ],
  [
    'a Deployment that ran out of time',
    Deployment,
    {
      spec: { replicas: 1 },
      status: { conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded', 'too slow')] },
    },
    'failed',
    'ProgressDeadlineExceeded: too slow',
  ],
  [
    'a Deployment that may not make pods',
    Deployment,
    {
      spec: { replicas: 1 },
      status: { conditions: [condition('ReplicaFailure', 'True', 'FailedCreate', 'exceeded quota')] },
    },
    'failed',
    'FailedCreate: exceeded quota',
  ],
  [
    'a StatefulSet that starts',
    StatefulSet,
    { spec: { replicas: 2 }, status: { readyReplicas: 1, updatedReplicas: 2 } },
    'progressing',
    '1/2 replicas ready',
  ],
  [
    'a StatefulSet in mid-update',
    StatefulSet,
    { spec: { replicas: 2 }, status: { readyReplicas: 2, updatedReplicas: 1 } },
    'progressing',
    '1/2 replicas updated',
  ],
  [
    'a StatefulSet updated down to its partition',
    StatefulSet,
    {
      spec: { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } },
      status: { readyReplicas: 3, updatedReplicas: 1 },
    },
    'ready',
    'ready',
  ],
  [
    'a StatefulSet updated by hand',
    StatefulSet,
    { spec: { replicas: 1, updateStrategy: { type: 'OnDelete' } }, status: { readyReplicas: 1 } },
    'ready',
    'ready',
  ],
  [
    'a DaemonSet that nobody has looked at',
    DaemonSet,
    { spec: {}, status: {} },
    'progressing',
    'waits for its controller',
  ],
  [
    'a DaemonSet that starts',
    DaemonSet,
    { spec: {}, status: { observedGeneration: 1, desiredNumberScheduled: 3, numberReady: 2 } },
    'progressing',
    '2/3 nodes ready',
  ],
  [
    'a DaemonSet in mid-update',
    DaemonSet,
    {
      spec: {},
      status: { observedGeneration: 1, desiredNumberScheduled: 3, numberReady: 3, updatedNumberScheduled: 1 },
    },
    'progressing',
    '1/3 nodes updated',
  ],
  [
    'a DaemonSet that fits no node',
    DaemonSet,
    { spec: {}, status: { observedGeneration: 1, desiredNumberScheduled: 0 } },
    'ready',
    'ready',
  ],
  [
    'a ReplicaSet',
    ReplicaSet,
    { spec: { replicas: 2 }, status: { readyReplicas: 1 } },
    'progressing',
    '1/2 replicas ready',
  ],
  [
    'a Job that runs',
    Job,
    { spec: { completions: 2 }, status: { active: 1, succeeded: 1 } },
    'progressing',
    '1/2 completed, 1 running',
  ],
  ['a Job that is done', Job, { status: { conditions: [condition('Complete', 'True')] } }, 'ready', 'ready'],
  [
    'a Job that failed',
    Job,
    { status: { conditions: [condition('Failed', 'True', 'BackoffLimitExceeded', 'gave up')] } },
    'failed',
    'BackoffLimitExceeded: gave up',
  ],
  ['a Job that is suspended', Job, { spec: { suspend: true } }, 'progressing', 'suspended'],
  [
    'a Pod that pulls in vain',
    Pod,
    {
      status: {
        phase: 'Pending',
        containerStatuses: [
          { name: 'web', state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } },
        ],
      },
    },
    'progressing',
    'container web: ImagePullBackOff: no such image',
  ],
  [
    'a Pod that finds no node',
    Pod,
    {
      status: {
        phase: 'Pending',
        conditions: [condition('PodScheduled', 'False', 'Unschedulable', '0/3 nodes are available')],
      },
    },
    'progressing',
    '0/3 nodes are available',
  ],
  [
    'a Pod that starts',
    Pod,
    {
      status: {
        phase: 'Pending',
        containerStatuses: [{ name: 'web', state: { waiting: { reason: 'ContainerCreating' } } }],
      },
    },
    'progressing',
    'phase Pending',
  ],
  ['a Pod that failed', Pod, { status: { phase: 'Failed', reason: 'Evicted' } }, 'failed', 'Evicted'],
  ['a Pod that is done', Pod, { status: { phase: 'Succeeded' } }, 'ready', 'ready'],
  [
    'a claim that waits',
    PersistentVolumeClaim,
    { status: { phase: 'Pending' } },
    'progressing',
    'not bound to a volume yet',
  ],
  [
    'a claim that lost its volume',
    PersistentVolumeClaim,
    { status: { phase: 'Lost' } },
    'failed',
    'its volume is lost',
  ],
  ['a Service', Service, { spec: { type: 'ClusterIP' } }, 'ready', 'ready'],
  [
    'a load balancer without an address',
    Service,
    { spec: { type: 'LoadBalancer' }, status: { loadBalancer: {} } },
    'progressing',
    'its load balancer has no address yet',
  ],
  [
    'a load balancer',
    Service,
    { spec: { type: 'LoadBalancer' }, status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } },
    'ready',
    'ready',
  ],
  ['a definition that is not served yet', CustomResourceDefinition, { status: {} }, 'progressing', 'not served yet'],
  [
    'a definition whose names are taken',
    CustomResourceDefinition,
    { status: { conditions: [condition('NamesAccepted', 'False', 'NameConflict', 'taken')] } },
    'failed',
    'NameConflict: taken',
  ],
  [
    'a definition that is served',
    CustomResourceDefinition,
    { status: { conditions: [condition('Established', 'True')] } },
    'ready',
    'ready',
  ],
  ['a Namespace on its way out', Namespace, { status: { phase: 'Terminating' } }, 'progressing', 'being deleted'],
  [
    'a custom object that says it is not ready',
    Certificate,
    { status: { conditions: [condition('Ready', 'False', 'Issuing', 'waiting for the CA')] } },
    'progressing',
    'Issuing: waiting for the CA',
  ],
  [
    'a custom object that says it is ready',
    Certificate,
    { status: { conditions: [condition('Ready', 'True')] } },
    'ready',
    'ready',
  ],
  ['a custom object that says nothing', Certificate, {}, 'ready', 'ready'],
  ['a custom object with a familiar name', OtherService, { spec: { type: 'LoadBalancer' } }, 'ready', 'ready'],
  ['anything else', ConfigMap, {}, 'ready', 'ready'],
];

describe('readinessOf', () => {
  it.each(cases)('judges %s', (_, kind, { generation, ...body }, state, message) => {
    const metadata = { name: 'web', ...(generation === undefined ? {} : { generation }) };
    expect(readinessOf(kind, { apiVersion: 'v1', kind: kind.kind, metadata, ...body })).toEqual({
      state,
      message: `${kind.kind} web: ${message}`,
    });
  });
});
