export type { Static, TSchema } from 'typebox';
export { Type } from 'typebox';
export { closest, didYouMean } from './closest.ts';
export type { ConvertResult } from './convert.ts';
export { convertInstance } from './convert.ts';
export { needsConversion, toCrd } from './crd.ts';
export type { MultiVersionDefinition, ResourceHead, SingleVersionDefinition } from './define-resource.ts';
export { defineResource, defineVersion } from './define-resource.ts';
export type { Duration } from './duration.ts';
export { toMilliseconds } from './duration.ts';
export type { ExactlyOne, FieldOptions, ListFieldOptions, NumberFieldOptions } from './fields.ts';
export {
  atomic,
  atomicList,
  dnsLabel,
  duration,
  embeddedObject,
  exactlyOneOf,
  freeForm,
  immutable,
  int32,
  int64,
  intOrString,
  listMap,
  nullable,
  objectName,
  port,
  quantity,
  setOf,
  timestamp,
  url,
  withRules,
} from './fields.ts';
export type { InstanceOf, Kind } from './kind.ts';
export { apiVersionOf, defineKind, manifest, resourceNameOf } from './kind.ts';
export {
  builtInKinds,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  ControllerRevision,
  CronJob,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  EndpointSlice,
  Event,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  Lease,
  LimitRange,
  MutatingWebhookConfiguration,
  Namespace,
  NetworkPolicy,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PriorityClass,
  ReplicaSet,
  ResourceQuota,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  StorageClass,
  SubjectAccessReview,
  TokenReview,
  ValidatingWebhookConfiguration,
} from './kinds.ts';
export type { Condition, KubeObject, ManagedFields, ObjectMeta, OwnerReference, Ref } from './object.ts';
export type { ParseResult, ParseStatusResult } from './parse.ts';
export { formatProblems, parseInstance, parseStatus } from './parse.ts';
export {
  affinity,
  annotations,
  envVars,
  keyRef,
  labelSelector,
  labels,
  localRef,
  resourceRequirements,
  tolerations,
} from './pod-fields.ts';
export type { Grant, MergedRule, Verb } from './rbac/grant.ts';
export { mergeGrants } from './rbac/grant.ts';
export type { Rbac, RbacOptions } from './rbac/rbac.ts';
export { toRbac, whyAnnotation } from './rbac/rbac.ts';
export { toRbacReference } from './rbac/reference.ts';
export { toFieldTable, toReference } from './reference/reference.ts';
export { toSample } from './reference/sample.ts';
export type {
  BaseStatus,
  Column,
  Conversion,
  Converted,
  Convertible,
  CustomObject,
  Instance,
  Resource,
  ResourceVersion,
  Scale,
  VersionDefinition,
} from './resource.ts';
export { storageVersionOf } from './resource.ts';
export type { Shape, ShapeResult } from './shape.ts';
export { defineShape } from './shape.ts';
export { exactlyOneRule } from './structural/exactly-one.ts';
export type { Rule, StructuralSchema } from './structural/schema.ts';
export { unknownFields } from './unknown-fields.ts';
export type { Problem } from './validate/report.ts';
export { ageColumn, conditionColumn } from './version.ts';
