export { orAborted } from './abort.ts';
export type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  GetOptions,
  KubeClient,
  ListOptions,
  LogOptions,
  Page,
  PatchBody,
  Selection,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.ts';
export { backoffDelay, type Clock, systemClock } from './clock.ts';
export type { KubeConfig } from './config/config.ts';
export { type LoadConfigOptions, loadConfig } from './config/load-config.ts';
export { Secret } from './config/secret.ts';
export { type ClientOptions, createClient } from './create-client.ts';
export type { ServedKind } from './discovery/served-kind.ts';
export { Fault, type FaultCode, type FaultDetails, faults, isFault, type Retry } from './fault.ts';
export { type Reflect, type ReflectorOptions, type ReflectorState, reflect } from './reflector.ts';
export { compareResourceVersions, isOlder } from './resource-version.ts';
export type { FlowControlOptions } from './transport/flow-control.ts';
export type { ClientObserver, RequestReport, RetryReport, ThrottleReport } from './transport/observer.ts';
