/** The kinds that the operator makes and follows: the built-in ones, and those that features declare. RBAC comes out of these lists. */
import type { Owned, Watch } from '@keelson/runtime';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CronJob,
  DaemonSet,
  Deployment,
  Event,
  type Grant,
  type Kind,
  type KubeObject,
  NetworkPolicy,
  Pod,
  PodDisruptionBudget,
  PriorityClass,
  resourceNameOf,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
} from '@keelson/schema';
import { eventFields, failedCreateScope, podFields } from '../assess/watched.ts';
import type { Feature } from '../feature.ts';
import { AGENT_LABEL, agentLabel, FEATURE_LABEL } from '../names.ts';
import { SecurityAgent } from '../resource.ts';
import { trustSecretNames } from '../telemetry/trust-secrets.ts';
import { identityOf, targetNamespace } from './context.ts';

export type OwnedKind = Owned;

/** `spec.global.namespace` may be another one than the agent's. */
const namespaced: readonly Kind[] = [
  ServiceAccount,
  ConfigMap,
  Service,
  NetworkPolicy,
  PodDisruptionBudget,
  DaemonSet,
  Deployment,
  StatefulSet,
  CronJob,
];

/** Every kind that an agent may own. */
export function ownedKinds(features: readonly Feature[]): readonly OwnedKind[] {
  return [
    ...namespaced.map((kind) => ({ kind, anywhere: true })),
    // Secrets of others are none of its business.
    { kind: Secret, anywhere: true, names: trustSecretNames },
    { kind: ClusterRole },
    { kind: ClusterRoleBinding },
    // Its value cannot change.
    { kind: PriorityClass, replace: true },
    ...distinct(features.flatMap(({ kinds = [] }) => kinds)).map((kind) => ({
      kind,
      optional: true,
      ...(kind.scope === 'Namespaced' ? { anywhere: true } : {}),
    })),
  ];
}

/** What claims ask of other agents; whatever else changes there is their own affair. */
const claimFields = [
  'spec.global.namespace',
  'spec.features.name',
  'spec.features.enabled',
  'spec.override.nodeAgent.nodeSelector',
  'spec.override.nodeAgent.podTemplate.spec.nodeSelector',
  'spec.override.perTool',
  'status.installed',
  'status.features',
];

/** Every kind that is looked at: pods and events for the reasons, other agents for their claims, kinds of others for their being there. */
export function watchedKinds(features: readonly Feature[]): readonly Watch<typeof SecurityAgent>[] {
  const owned = new Set(features.flatMap(({ kinds = [] }) => kinds.map(resourceNameOf)));
  const required = distinct(features.flatMap(({ requires = [] }) => requires.map(({ kind }) => kind)));
  return [
    {
      kind: Pod,
      relate: (self) => [{ labels: { [AGENT_LABEL]: agentLabel(identityOf(self)) }, namespace: targetNamespace(self) }],
      scope: { labelSelector: FEATURE_LABEL },
      fields: podFields,
    },
    {
      kind: Event,
      relate: (self) => [{ labels: {}, namespace: targetNamespace(self) }],
      scope: failedCreateScope,
      fields: eventFields,
    },
    // What others want and what they run; not how it does, which changes with every pod.
    { kind: SecurityAgent, relate: () => ['all'], fields: claimFields },
    ...required
      .filter((kind) => !owned.has(resourceNameOf(kind)))
      // Only whether the kind is there matters: the selector matches none of its objects.
      .map((kind) => ({
        kind,
        relate: () => [],
        optional: true,
        metadataOnly: true,
        scope: { labelSelector: FEATURE_LABEL },
      })),
  ];
}

/** What tools may do, the operator must be allowed to do: Kubernetes lets nobody pass on what he does not have. */
export function passedOn(features: readonly Feature[]): readonly Grant[] {
  return features.flatMap(({ title, rights = [] }) =>
    rights.map((right) => ({ ...right, why: `passed on to ${title}: ${right.why}` })),
  );
}

/** The kind of an object, of those that an agent may own. */
export function kindOf({ apiVersion, kind }: KubeObject, kinds: readonly OwnedKind[]): Kind | undefined {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return kinds.find((one) => one.kind.kind === kind && one.kind.group === group)?.kind;
}

function distinct(kinds: readonly Kind[]): readonly Kind[] {
  return [...new Map(kinds.map((kind) => [resourceNameOf(kind), kind])).values()];
}
