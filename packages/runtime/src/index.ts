export type {
  Apply,
  ConditionNote,
  Decision,
  EventNote,
  Finalization,
  Reject,
  StatusNote,
  Wait,
} from './decision.ts';
export { apply, reject, wait } from './decision.ts';
export type { Effect, EffectContext, EffectHandler, EffectOutcome } from './effect.ts';
export { defineEffect } from './effect.ts';
export type { Lifecycle, LifecycleDefinition } from './lifecycle.ts';
export { defineLifecycle } from './lifecycle.ts';
export type { Logger, LoggerOptions, LogLevel } from './logging/logger.ts';
export { createLogger, silentLogger } from './logging/logger.ts';
export { marks } from './marks.ts';
export type { ObjectSet, Observed } from './observed.ts';
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
export type { Change, Plan, Refusal, Step } from './plan/plan.ts';
export type { Admission, Problem, Review, Verdict } from './webhook/admission.ts';
