/**
 * Runs effects and remembers how they ended.
 *
 * Invariant (effect.ts): a handler runs when the effect is new to this process, when its handler or input changed, when it
 * failed (with backoff) and, if `every` is given, that long after it last succeeded; never otherwise, and never twice at once. A
 * failure is an outcome, not a fault: it reaches the operator's next `reconcile`, and the other effects of the instance run all the
 * same. No handler holds a worker for longer than its `timeout`, whatever it does about its signal.
 */
import { backoffDelay, type Clock } from '@keelson/kube';
import { toMilliseconds } from '@keelson/schema';
import { isOperatorBug, operatorBug } from '../bug.ts';
import type { Effect, EffectContext, EffectHandler, EffectOutcome } from '../effect.ts';
import { digest, freeze, isSame } from '../plan/value.ts';
import type { Redactor } from '../redact.ts';
import { withTimeLimit } from '../time-limit.ts';

export interface EffectRun {
  readonly effects: readonly Effect[];
  readonly context: Omit<EffectContext, 'memory'>;
  /** Knows the Secrets that the context's reader has read. */
  readonly redactor: Redactor;
}

export interface EffectReport {
  /** An outcome is another than before: the operator should decide again. */
  readonly changed: boolean;
  /** When the next one is due. */
  readonly dueInMs?: number;
  /** Every effect that was asked for has been done. */
  readonly done: boolean;
}

/** One run of a handler, for metrics. */
export interface EffectRan {
  readonly handler: string;
  readonly state: EffectOutcome['state'];
  readonly seconds: number;
}

export interface EffectRunner {
  /** How the effects of an instance have ended so far, by their key. */
  outcomes(uid: string): ReadonlyMap<string, EffectOutcome>;
  /** Runs what is due, all at once, and forgets what is no longer asked for. */
  run(uid: string, run: EffectRun): Promise<EffectReport>;
  forget(uid: string): void;
}

interface Kept {
  readonly identity: string;
  readonly outcome: EffectOutcome;
  /** Monotonic time when it ended. */
  readonly endedAt: number;
  /** Of a failure: how long to wait before the next try, if the effect does not set another limit meanwhile. */
  readonly retryMs: number;
  /** The handler's own, from run to run. */
  readonly memory: Map<string, unknown>;
}

/** An effect that was looked at and found sound. */
interface Asked {
  readonly effect: Effect;
  readonly handler: EffectHandler;
  readonly identity: string;
  readonly everyMs: number | undefined;
  readonly retryWithinMs: number;
  readonly timeoutMs: number;
}

const DEFAULT_TIMEOUT = '30s';
const DEFAULT_RETRY_WITHIN = '5m';
const FIRST_RETRY_MS = 1_000;

export function createEffectRunner(options: {
  readonly operator: { readonly name: string; readonly effects: Readonly<Record<string, EffectHandler>> };
  readonly clock: Clock;
  readonly onRun?: (run: EffectRan) => void;
}): EffectRunner {
  const { operator, clock } = options;
  const instances = new Map<string, Map<string, Kept>>();

  /** Handlers that have not returned, by instance and key: also those whose time is up. */
  const underWay = new Set<string>();

  async function perform(uid: string, asked: Asked, before: Kept | undefined, run: EffectRun): Promise<Kept> {
    const { effect, identity } = asked;
    const at = new Date(clock.now());
    const memory = before?.memory ?? new Map<string, unknown>();
    const ended = (outcome: EffectOutcome, retryMs = 0): Kept => ({
      identity,
      outcome: freeze(outcome),
      endedAt: clock.monotonic(),
      retryMs,
      memory,
    });
    try {
      const what = `effect '${effect.key}'`;
      const limit = { clock, ms: asked.timeoutMs, signal: run.context.signal, what };
      const result = await withTimeLimit(limit, (signal) => call(uid, asked, { ...run.context, signal, memory }));
      return ended({ state: 'done', at, result: run.redactor.value(result) });
    } catch (error) {
      if (run.context.signal.aborted || isOperatorBug(error)) throw error;
      const message = run.redactor.text(error instanceof Error ? error.message : String(error));
      const attempts =
        before?.outcome.state === 'failed' && before.identity === identity ? before.outcome.attempts + 1 : 1;
      const backoff = { initialMs: FIRST_RETRY_MS, maxMs: asked.retryWithinMs };
      return ended({ state: 'failed', at, message, attempts }, backoffDelay(attempts - 1, backoff, clock.random()));
    }
  }

  async function call(uid: string, { effect, handler }: Asked, context: EffectContext): Promise<unknown> {
    const id = JSON.stringify([uid, effect.key]);
    if (underWay.has(id)) {
      const remedy = 'its handler must heed the signal that it is given';
      throw new Error(`effect '${effect.key}' still runs although its time was up: ${remedy}`);
    }
    underWay.add(id);
    try {
      return await handler(freeze(effect.input), context);
    } finally {
      underWay.delete(id);
    }
  }

  /** Looks at all that is asked for before anything runs: what is unsound is a bug of the operator. */
  function check(effects: readonly Effect[]): Map<string, Asked> {
    const asked = new Map<string, Asked>();
    for (const effect of effects) {
      const { key } = effect;
      if (asked.has(key))
        throw operatorBug(`operator ${operator.name} asks for effect '${key}' twice: give each its own key`);
      const handler = Object.hasOwn(operator.effects, effect.handler) ? operator.effects[effect.handler] : undefined;
      if (handler === undefined) {
        throw operatorBug(
          `operator ${operator.name} asks for effect '${key}' by handler '${effect.handler}', which it does not have: ` +
            `add it to effects, which now has ${Object.keys(operator.effects).join(', ') || 'nothing'}`,
        );
      }
      try {
        asked.set(key, {
          effect,
          handler,
          identity: digest([effect.handler, effect.input]),
          everyMs: effect.every === undefined ? undefined : toMilliseconds(effect.every),
          retryWithinMs: toMilliseconds(effect.retryWithin ?? DEFAULT_RETRY_WITHIN),
          timeoutMs: toMilliseconds(effect.timeout ?? DEFAULT_TIMEOUT),
        });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw operatorBug(`operator ${operator.name}, effect '${key}': ${reason}`);
      }
    }
    return asked;
  }

  return {
    outcomes: (uid) => new Map([...(instances.get(uid) ?? [])].map(([key, kept]) => [key, kept.outcome])),
    async run(uid, run) {
      const asked = check(run.effects);
      const before = instances.get(uid) ?? new Map<string, Kept>();
      const runs = [...asked].map(async ([key, one]): Promise<[string, Kept]> => {
        const kept = before.get(key);
        const began = clock.monotonic();
        if (kept !== undefined && kept.identity === one.identity && dueAt(kept, one) > began) return [key, kept];
        const now = await perform(uid, one, kept, run);
        const seconds = (clock.monotonic() - began) / 1_000;
        options.onRun?.({ handler: one.effect.handler, state: now.outcome.state, seconds });
        return [key, now];
      });
      // Every one is waited for and remembered: what was done must not be done again because another one went wrong.
      const ends = await Promise.allSettled(runs);
      const after = new Map(ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : [])));
      if (after.size === 0) instances.delete(uid);
      else instances.set(uid, after);
      const wrong = ends.find((end) => end.status === 'rejected');
      if (wrong !== undefined) throw wrong.reason;
      return report(before, after, asked, clock.monotonic());
    },
    forget: (uid) => void instances.delete(uid),
  };
}

/** When it is to run again, by the clock that only goes forward: never, if it was done once and for all. */
function dueAt({ outcome, endedAt, retryMs }: Kept, asked: Asked): number {
  const { everyMs = Number.POSITIVE_INFINITY, retryWithinMs } = asked;
  return endedAt + (outcome.state === 'failed' ? Math.min(retryMs, retryWithinMs) : everyMs);
}

function report(
  before: ReadonlyMap<string, Kept>,
  after: ReadonlyMap<string, Kept>,
  asked: ReadonlyMap<string, Asked>,
  now: number,
): EffectReport {
  const next = Math.min(
    ...[...asked].map(([key, one]) => {
      const kept = after.get(key);
      return kept === undefined ? now : dueAt(kept, one);
    }),
  );
  return {
    changed: [...after].some(([key, kept]) => !isSame(essence(before.get(key)), essence(kept))),
    done: [...after.values()].every((kept) => kept.outcome.state === 'done'),
    ...(Number.isFinite(next) ? { dueInMs: Math.max(0, next - now) } : {}),
  };
}

/** What of an outcome an operator would decide by: not when it was, nor how often it has failed the same way. */
function essence(kept: Kept | undefined): unknown {
  if (kept === undefined) return undefined;
  const { outcome } = kept;
  return outcome.state === 'done' ? { result: outcome.result } : { message: outcome.message };
}
