/**
 * Runs effects and remembers how they ended.
 *
 * Invariant (effect.ts): a handler runs when the effect is new to this process, when its handler or input changed, when it
 * failed (with backoff) and, if `every` is given, that long after it last succeeded; never otherwise. A failure is an outcome,
 * not a fault: it reaches the operator's next `reconcile`, and the other effects of the instance run all the same.
 */
import { backoffDelay, type Clock } from '@keelson/kube';
import { toMilliseconds } from '@keelson/schema';
import { isOperatorBug, operatorBug } from '../bug.ts';
import type { Effect, EffectContext, EffectHandler, EffectOutcome } from '../effect.ts';
import { digest, freeze, isSame } from '../plan/value.ts';
import type { Redactor } from '../redact.ts';

export interface EffectRun {
  readonly effects: readonly Effect[];
  readonly context: EffectContext;
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
  /** Monotonic time of the next run; undefined when there is none. */
  readonly dueAt: number | undefined;
}

const retry = { initialMs: 1_000, maxMs: 5 * 60_000 };

export function createEffectRunner(options: {
  readonly operator: { readonly name: string; readonly effects: Readonly<Record<string, EffectHandler>> };
  readonly clock: Clock;
  readonly onRun?: (run: EffectRan) => void;
}): EffectRunner {
  const { operator, clock } = options;
  const instances = new Map<string, Map<string, Kept>>();

  async function perform(effect: Effect, identity: string, before: Kept | undefined, run: EffectRun): Promise<Kept> {
    const at = new Date(clock.now());
    try {
      const result = run.redactor.value(await handlerOf(effect)(freeze(effect.input), run.context));
      const dueAt = effect.every === undefined ? undefined : clock.monotonic() + toMilliseconds(effect.every);
      return { identity, dueAt, outcome: freeze({ state: 'done', at, result }) };
    } catch (error) {
      if (run.context.signal.aborted || isOperatorBug(error)) throw error;
      const message = run.redactor.text(error instanceof Error ? error.message : String(error));
      const attempts =
        before?.outcome.state === 'failed' && before.identity === identity ? before.outcome.attempts + 1 : 1;
      const dueAt = clock.monotonic() + backoffDelay(attempts - 1, retry, clock.random());
      return { identity, dueAt, outcome: freeze({ state: 'failed', at, message, attempts }) };
    }
  }

  function handlerOf(effect: Effect): EffectHandler {
    const handler = Object.hasOwn(operator.effects, effect.handler) ? operator.effects[effect.handler] : undefined;
    if (handler !== undefined) return handler;
    throw operatorBug(
      `operator ${operator.name} asks for effect '${effect.key}' by handler '${effect.handler}', which it does not have: ` +
        `add it to effects, which now has ${Object.keys(operator.effects).join(', ') || 'nothing'}`,
    );
  }

  return {
    outcomes: (uid) => new Map([...(instances.get(uid) ?? [])].map(([key, kept]) => [key, kept.outcome])),
    async run(uid, run) {
      const before = instances.get(uid) ?? new Map<string, Kept>();
      const after = new Map<string, Kept>();
      const due: Promise<void>[] = [];
      for (const effect of run.effects) {
        if (after.has(effect.key)) {
          throw operatorBug(`operator ${operator.name} asks for effect '${effect.key}' twice: give each its own key`);
        }
        handlerOf(effect);
        const identity = digest([effect.handler, effect.input]);
        const kept = before.get(effect.key);
        const isDue =
          kept === undefined ||
          kept.identity !== identity ||
          (kept.dueAt !== undefined && kept.dueAt <= clock.monotonic());
        after.set(effect.key, kept ?? placeholder);
        if (!isDue) continue;
        const began = clock.monotonic();
        due.push(
          perform(effect, identity, kept, run).then((now) => {
            after.set(effect.key, now);
            const seconds = (clock.monotonic() - began) / 1_000;
            options.onRun?.({ handler: effect.handler, state: now.outcome.state, seconds });
          }),
        );
      }
      await Promise.all(due);
      if (after.size === 0) instances.delete(uid);
      else instances.set(uid, after);
      return report(before, after, clock.monotonic());
    },
    forget: (uid) => void instances.delete(uid),
  };
}

const placeholder: Kept = {
  identity: '',
  dueAt: undefined,
  outcome: { state: 'failed', at: new Date(0), message: 'has not run yet', attempts: 0 },
};

function report(before: ReadonlyMap<string, Kept>, after: ReadonlyMap<string, Kept>, now: number): EffectReport {
  const dueAt = Math.min(...[...after.values()].flatMap((kept) => kept.dueAt ?? []));
  return {
    changed: [...after].some(([key, kept]) => !isSame(essence(before.get(key)), essence(kept))),
    done: [...after.values()].every((kept) => kept.outcome.state === 'done'),
    ...(Number.isFinite(dueAt) ? { dueInMs: Math.max(0, dueAt - now) } : {}),
  };
}

/** What of an outcome an operator would decide by: not when it was, nor how often it has failed the same way. */
function essence(kept: Kept | undefined): unknown {
  if (kept === undefined) return undefined;
  const { outcome } = kept;
  return outcome.state === 'done' ? { result: outcome.result } : { message: outcome.message };
}
