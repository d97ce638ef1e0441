export { type AdminRequestOptions, type ApiError, type ApiObject, isApiError } from './admin.ts';
export type { Audit, AuditEntry, AuditFilter, AuditLevel, AuditMark } from './audit.ts';
export {
  type CollectorOptions,
  type CollectorVerdict,
  type StartCollectorOptions,
  startCollector,
  validateCollectorConfig,
} from './collector.ts';
export type { Flags } from './control-plane.ts';
export type { CrdSource } from './crds.ts';
export type { Exchange, ExchangeMatch } from './fault-proxy/exchange.ts';
export type { WritePause } from './fault-proxy/pause.ts';
export type { FaultProxy, RequestHook, ResponseHook } from './fault-proxy/proxy.ts';
export type { EventChoice, FaultAction, FaultRule, RuleHandle, WatchEvent } from './fault-proxy/rule.ts';
export type { KubectlOptions } from './kubectl.ts';
export type { SimulatedNode } from './nodes.ts';
export type { Part, PartFailure, PartSpec } from './part.ts';
export { findFreePort } from './ports.ts';
export {
  type SearchStore,
  type SearchStoreOptions,
  startElasticsearch,
  startOpenSearch,
} from './search-store.ts';
export { type SimulatedTrouble, simulateAnnotation } from './stages.ts';
export { type Standalone, type StandaloneOptions, startStandalone } from './standalone.ts';
export { startTestEnv } from './start.ts';
export type {
  FaultProxyOptions,
  Identity,
  Level,
  Parts,
  ServiceAccountIdentity,
  TestEnv,
  TestEnvOptions,
  UserIdentity,
} from './test-env.ts';
