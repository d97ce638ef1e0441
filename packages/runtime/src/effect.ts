/**
 * An effect is something that must hold outside Kubernetes (an index template in a store, a tunnel at a provider). The
 * operator declares it as data; the engine sees to it.
 *
 * Invariant: a handler is idempotent. It runs when the effect is new to this process, when its input changed, when it failed
 * (with backoff) and, if `every` is given, that long after it last succeeded; never otherwise. Its outcome reaches the next `reconcile`.
 */
import type { Duration } from '@keelson/schema';
import type { Reader } from './operator.ts';

export interface Effect {
  /** Which of the operator's handlers. */
  readonly handler: string;
  /** Identity within the instance: `template/security-events`. */
  readonly key: string;
  /** Plain data. */
  readonly input: unknown;
  /** Check and repair again after this long. */
  readonly every?: Duration;
  /** After a failure it is tried again later each time; never later than this. Default 5m. */
  readonly retryWithin?: Duration;
  /** How long the handler may take; then it has failed. Default 30s. */
  readonly timeout?: Duration;
}

export interface EffectContext {
  readonly read: Reader;
  /** Aborted when the time is up or the process stops: to be passed on to whatever the handler waits for. */
  readonly signal: AbortSignal;
  readonly namespace?: string;
  /**
   * What the handler wants to know when it runs again for this key, such as figures to compare with; whatever its input. In memory
   * only, as outcomes are: empty after a restart, gone when the effect is no longer asked for. Nothing in it wakes anybody.
   */
  readonly memory: Map<string, unknown>;
}

/** Sees to an effect; its result (plain data, no secrets) is kept in the outcome. A thrown error is a failed outcome and is retried. */
export type EffectHandler = (input: unknown, context: EffectContext) => Promise<unknown>;

export type EffectOutcome =
  | { readonly state: 'done'; readonly at: Date; readonly result: unknown }
  | { readonly state: 'failed'; readonly at: Date; readonly message: string; readonly attempts: number };

/** Types a handler by its input. */
export function defineEffect<Input>(
  handler: (input: Input, context: EffectContext) => Promise<unknown>,
): EffectHandler {
  return (input, context) => handler(input as Input, context);
}
