/**
 * The built-in kinds as values, each with the type of its objects under the same name: `owns: [Deployment]`,
 * `manifest(Deployment, { name }, { spec })`, `const live: Deployment`.
 *
 * Invariant: every type here is an alias of a plain object type without an index signature, so that it is assignable to
 * `KubeObject` and still keeps its keys under `Omit`. What the API server always returns (`spec` of a Deployment) is required,
 * although the upstream types make it optional. Group, plural and scope are checked against a real server's discovery.
 */

import type * as AdmissionRegistration from 'kubernetes-types/admissionregistration/v1.js';
import type * as ApiExtensions from 'kubernetes-types/apiextensions/v1.js';
import type * as Apps from 'kubernetes-types/apps/v1.js';
import type * as Authentication from 'kubernetes-types/authentication/v1.js';
import type * as Authorization from 'kubernetes-types/authorization/v1.js';
import type * as Autoscaling from 'kubernetes-types/autoscaling/v2.js';
import type * as Batch from 'kubernetes-types/batch/v1.js';
import type * as Coordination from 'kubernetes-types/coordination/v1.js';
import type * as Core from 'kubernetes-types/core/v1.js';
import type * as Discovery from 'kubernetes-types/discovery/v1.js';
import type * as Events from 'kubernetes-types/events/v1.js';
import type * as Networking from 'kubernetes-types/networking/v1.js';
import type * as Policy from 'kubernetes-types/policy/v1.js';
import type * as Rbac from 'kubernetes-types/rbac/v1.js';
import type * as Scheduling from 'kubernetes-types/scheduling/v1.js';
import type * as Storage from 'kubernetes-types/storage/v1.js';
import { defineKind } from './kind.ts';
import type { ObjectMeta } from './object.ts';

/** An upstream interface as a Keelson object type; `Certain` names the fields that every object of the kind has. */
type BuiltIn<T extends { apiVersion?: string; kind?: string }, Certain extends keyof T = never> = {
  apiVersion: NonNullable<T['apiVersion']>;
  kind: NonNullable<T['kind']>;
  metadata: ObjectMeta;
} & { [K in Certain]-?: NonNullable<T[K]> } & {
  -readonly [K in keyof T as K extends 'apiVersion' | 'kind' | 'metadata' | Certain ? never : K]: T[K];
};

export type Namespace = BuiltIn<Core.Namespace>;
export const Namespace = defineKind<Namespace>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  scope: 'Cluster',
});

export type ConfigMap = BuiltIn<Core.ConfigMap>;
export const ConfigMap = defineKind<ConfigMap>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
});

export type Secret = BuiltIn<Core.Secret>;
export const Secret = defineKind<Secret>({
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  scope: 'Namespaced',
});

export type Service = BuiltIn<Core.Service, 'spec'>;
export const Service = defineKind<Service>({
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  scope: 'Namespaced',
});

export type ServiceAccount = BuiltIn<Core.ServiceAccount>;
export const ServiceAccount = defineKind<ServiceAccount>({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  scope: 'Namespaced',
});

export type Pod = BuiltIn<Core.Pod, 'spec'>;
export const Pod = defineKind<Pod>({
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  scope: 'Namespaced',
});

export type Node = BuiltIn<Core.Node>;
export const Node = defineKind<Node>({
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  scope: 'Cluster',
});

export type PersistentVolume = BuiltIn<Core.PersistentVolume, 'spec'>;
export const PersistentVolume = defineKind<PersistentVolume>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  scope: 'Cluster',
});

export type PersistentVolumeClaim = BuiltIn<Core.PersistentVolumeClaim, 'spec'>;
export const PersistentVolumeClaim = defineKind<PersistentVolumeClaim>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  scope: 'Namespaced',
});

export type ResourceQuota = BuiltIn<Core.ResourceQuota, 'spec'>;
export const ResourceQuota = defineKind<ResourceQuota>({
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  scope: 'Namespaced',
});

export type LimitRange = BuiltIn<Core.LimitRange, 'spec'>;
export const LimitRange = defineKind<LimitRange>({
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  plural: 'limitranges',
  scope: 'Namespaced',
});

export type Deployment = BuiltIn<Apps.Deployment, 'spec'>;
export const Deployment = defineKind<Deployment>({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  scope: 'Namespaced',
});

export type DaemonSet = BuiltIn<Apps.DaemonSet, 'spec'>;
export const DaemonSet = defineKind<DaemonSet>({
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  scope: 'Namespaced',
});

export type StatefulSet = BuiltIn<Apps.StatefulSet, 'spec'>;
export const StatefulSet = defineKind<StatefulSet>({
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  scope: 'Namespaced',
});

export type ReplicaSet = BuiltIn<Apps.ReplicaSet, 'spec'>;
export const ReplicaSet = defineKind<ReplicaSet>({
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  scope: 'Namespaced',
});

export type ControllerRevision = BuiltIn<Apps.ControllerRevision>;
export const ControllerRevision = defineKind<ControllerRevision>({
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  scope: 'Namespaced',
});

export type Job = BuiltIn<Batch.Job, 'spec'>;
export const Job = defineKind<Job>({
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  scope: 'Namespaced',
});

export type CronJob = BuiltIn<Batch.CronJob, 'spec'>;
export const CronJob = defineKind<CronJob>({
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  scope: 'Namespaced',
});

export type Role = BuiltIn<Rbac.Role, 'rules'>;
export const Role = defineKind<Role>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'Role',
  plural: 'roles',
  scope: 'Namespaced',
});

export type RoleBinding = BuiltIn<Rbac.RoleBinding, 'subjects'>;
export const RoleBinding = defineKind<RoleBinding>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  scope: 'Namespaced',
});

export type ClusterRole = BuiltIn<Rbac.ClusterRole>;
export const ClusterRole = defineKind<ClusterRole>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  scope: 'Cluster',
});

export type ClusterRoleBinding = BuiltIn<Rbac.ClusterRoleBinding, 'subjects'>;
export const ClusterRoleBinding = defineKind<ClusterRoleBinding>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  scope: 'Cluster',
});

export type NetworkPolicy = BuiltIn<Networking.NetworkPolicy, 'spec'>;
export const NetworkPolicy = defineKind<NetworkPolicy>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  scope: 'Namespaced',
});

export type Ingress = BuiltIn<Networking.Ingress, 'spec'>;
export const Ingress = defineKind<Ingress>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  plural: 'ingresses',
  scope: 'Namespaced',
});

export type PodDisruptionBudget = BuiltIn<Policy.PodDisruptionBudget, 'spec'>;
export const PodDisruptionBudget = defineKind<PodDisruptionBudget>({
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  scope: 'Namespaced',
});

export type PriorityClass = BuiltIn<Scheduling.PriorityClass>;
export const PriorityClass = defineKind<PriorityClass>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  scope: 'Cluster',
});

export type StorageClass = BuiltIn<Storage.StorageClass>;
export const StorageClass = defineKind<StorageClass>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  scope: 'Cluster',
});

export type Lease = BuiltIn<Coordination.Lease, 'spec'>;
export const Lease = defineKind<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  scope: 'Namespaced',
});

export type EndpointSlice = BuiltIn<Discovery.EndpointSlice>;
export const EndpointSlice = defineKind<EndpointSlice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  scope: 'Namespaced',
});

export type Event = BuiltIn<Events.Event>;
export const Event = defineKind<Event>({
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  scope: 'Namespaced',
});

export type HorizontalPodAutoscaler = BuiltIn<Autoscaling.HorizontalPodAutoscaler, 'spec'>;
export const HorizontalPodAutoscaler = defineKind<HorizontalPodAutoscaler>({
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  scope: 'Namespaced',
});

export type CustomResourceDefinition = BuiltIn<ApiExtensions.CustomResourceDefinition>;
export const CustomResourceDefinition = defineKind<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  scope: 'Cluster',
});

export type ValidatingWebhookConfiguration = BuiltIn<AdmissionRegistration.ValidatingWebhookConfiguration>;
export const ValidatingWebhookConfiguration = defineKind<ValidatingWebhookConfiguration>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  scope: 'Cluster',
});

export type MutatingWebhookConfiguration = BuiltIn<AdmissionRegistration.MutatingWebhookConfiguration>;
export const MutatingWebhookConfiguration = defineKind<MutatingWebhookConfiguration>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
  scope: 'Cluster',
});

export type TokenReview = BuiltIn<Authentication.TokenReview>;
export const TokenReview = defineKind<TokenReview>({
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  scope: 'Cluster',
});

export type SubjectAccessReview = BuiltIn<Authorization.SubjectAccessReview>;
export const SubjectAccessReview = defineKind<SubjectAccessReview>({
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  scope: 'Cluster',
});

/** Every built-in kind of this file, for tests and for look-up by name. */
export const builtInKinds = [
  Namespace,
  ConfigMap,
  Secret,
  Service,
  ServiceAccount,
  Pod,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  ResourceQuota,
  LimitRange,
  Deployment,
  DaemonSet,
  StatefulSet,
  ReplicaSet,
  ControllerRevision,
  Job,
  CronJob,
  Role,
  RoleBinding,
  ClusterRole,
  ClusterRoleBinding,
  NetworkPolicy,
  Ingress,
  PodDisruptionBudget,
  PriorityClass,
  StorageClass,
  Lease,
  EndpointSlice,
  Event,
  HorizontalPodAutoscaler,
  CustomResourceDefinition,
  ValidatingWebhookConfiguration,
  MutatingWebhookConfiguration,
  TokenReview,
  SubjectAccessReview,
] as const;
