export type { Cache, CacheOptions, OpenStore, StoreReport, StoreRequest } from './cache/cache.ts';
export { createCache } from './cache/cache.ts';
export type { Live, Store, StoreEvent } from './cache/store.ts';
export { type Circle, type CircleInput, type Party, type PartyMaterial, renewCircle } from './certificates/circle.ts';
export type {
  Apply,
  ConditionNote,
  Decision,
  EventNote,
  Expire,
  Finalization,
  Reject,
  StatusNote,
  Wait,
} from './decision.ts';
export { apply, expire, reject, wait } from './decision.ts';
export type { Effect, EffectContext, EffectHandler, EffectOutcome } from './effect.ts';
export { defineEffect } from './effect.ts';
export type { EventSource } from './events/note.ts';
export type { Recorder } from './events/recorder.ts';
export type { Finding, Health } from './health/checks.ts';
export type { Address } from './health/server.ts';
export { type Key, toKey, toRef } from './key.ts';
export type { Fence } from './lease/fence.ts';
export type { LeaseTimes } from './lease/lease-record.ts';
export type { Lifecycle, LifecycleDefinition, Move } from './lifecycle.ts';
export { defineLifecycle } from './lifecycle.ts';
export type { Logger, LoggerOptions, LogLevel } from './logging/logger.ts';
export { createLogger, silentLogger } from './logging/logger.ts';
export type { Manager } from './manager/manager.ts';
export { createManager } from './manager/manager.ts';
export type { LeaderElection, ManagerOptions, Runnable, RunnableContext } from './manager/options.ts';
export { marks, operatorSelector, toLabelValue } from './marks.ts';
export { createMetrics, type Metrics, type MetricsOptions } from './metrics/metrics.ts';
export { toMetricsReference } from './metrics/reference.ts';
export type { ObjectSet, Observed } from './observed.ts';
export { createObjectSet } from './observed.ts';
export type {
  ObserveContext,
  Operator,
  OperatorDefinition,
  Owned,
  Read,
  Reader,
  Related,
  Watch,
} from './operator.ts';
export { defineOperator } from './operator.ts';
export type { PermissionOptions } from './permissions.ts';
export { permissions } from './permissions.ts';
export { describeChange, describeTaker } from './plan/because.ts';
export type { Change, ChangeStep, CreateStep, DeleteStep, Leaving, Plan, Refusal, Step } from './plan/plan.ts';
export type { Preview, PreviewOptions } from './preview.ts';
export { previewInstance } from './preview.ts';
export type { Outcome } from './reconciler/conclude.ts';
export type { Rendering, Surroundings } from './render.ts';
export { renderInstance } from './render.ts';
export { engineConditions } from './status/condition.ts';
export { type Obstacle, tellObstacles } from './status/obstacle.ts';
export { type Readiness, readinessOf } from './status/readiness.ts';
export type { Admission, Operation, Problem, Review, Verdict } from './webhook/admission.ts';
export type {
  CertificateOptions,
  CertificatesInFiles,
  SelfManagedCertificates,
} from './webhook/certificate-options.ts';
export { webhookGrants } from './webhook/grants.ts';
export type { WebhookObserver } from './webhook/observer.ts';
export { type Reach, toConversion, toWebhookConfigurations } from './webhook/registration.ts';
export type { Reviewed } from './webhook/review.ts';
export { type ReviewedInstance, reviewInstance } from './webhook/review-instance.ts';
export { createWebhooks, needsWebhooks, type State, type Webhooks, type WebhooksOptions } from './webhook/webhooks.ts';
