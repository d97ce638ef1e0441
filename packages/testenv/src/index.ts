export { type AdminRequestOptions, type ApiError, type ApiObject, isApiError } from './admin.ts';
export type { Audit, AuditEntry, AuditFilter, AuditLevel, AuditMark } from './audit.ts';
export type { Flags } from './control-plane.ts';
export type { CrdSource } from './crds.ts';
export type { KubectlOptions } from './kubectl.ts';
export type { SimulatedNode } from './nodes.ts';
export type { Part, PartFailure } from './part.ts';
export { type SimulatedTrouble, simulateAnnotation } from './stages.ts';
export { startTestEnv } from './start.ts';
export type {
  Identity,
  Level,
  Parts,
  ServiceAccountIdentity,
  TestEnv,
  TestEnvOptions,
  UserIdentity,
} from './test-env.ts';
