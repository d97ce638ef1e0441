import { formatProblems, type Ref, type Resource } from '@keelson/schema';
import { reject } from '../decision.ts';
import { createEffectRunner } from '../effects/runner.ts';
import { finalize } from '../finalize/finalize.ts';
import { hasFinalizer } from '../finalize/finalizer.ts';
import { fenceWrites } from '../lease/fence-writes.ts';
import { toOwner } from '../marks.ts';
import { createSettled } from '../plan/settled.ts';
import { toWanted } from '../plan/wanted.ts';
import { createRedactor } from '../redact.ts';
import { failureOf, reportFailure } from '../status/failure.ts';
import {
  concludeApply,
  concludeExpire,
  concludePending,
  concludeReject,
  concludeWait,
  type Outcome,
  tellNews,
} from './conclude.ts';
import { decide } from './decide.ts';
import { createMemory, type Memory, type Notes, noteFailure, noteOutcome, pastOf } from './memory.ts';
import { collectOwned, observe } from './observe.ts';
import { createParseOnce } from './parse-once.ts';
import { executeTurn, planTurn, protectOrphans, runEffects } from './perform.ts';
import type { Engine, EngineHooks, EngineParts, Span, Turn } from './turn.ts';

export interface ReconcilerOptions<R extends Resource, X> extends EngineParts<R, X> {
  readonly span?: Span;
  readonly hooks?: EngineHooks;
}

export interface Reconciler {
  /** Brings one instance to what its operator decides, or says how far it came. Never run twice at once for one key. */
  reconcile(ref: Ref, signal: AbortSignal): Promise<Outcome>;
}

export function createReconciler<R extends Resource, X>(options: ReconcilerOptions<R, X>): Reconciler {
  const { operator, clock, claims } = options;
  const engine: Engine<R, X> = {
    ...options,
    client: fenceWrites(options.client, options.fence),
    span: options.span ?? ((_, run) => run()),
    hooks: options.hooks ?? {},
    effects: createEffectRunner({ operator, clock, onRun: (run) => options.hooks?.effect?.(run) }),
    parse: createParseOnce(operator.resource),
    settled: createSettled(),
    settledStatus: createSettled(),
  };
  const memory = createMemory((uid) => {
    claims.release(uid);
    for (const part of [engine.effects, engine.settled, engine.settledStatus]) part.forget(uid);
  });
  return { reconcile: (ref, signal) => reconcile(engine, memory, ref, signal) };
}

async function reconcile<R extends Resource, X>(
  engine: Engine<R, X>,
  memory: Memory,
  ref: Ref,
  signal: AbortSignal,
): Promise<Outcome> {
  const self = engine.primary.get(ref);
  if (self === undefined) {
    memory.forget(ref);
    return { result: 'absent', steps: 0, statusWritten: false };
  }
  const owner = toOwner(engine.operator, self.object);
  const notes = memory.of(ref, owner.uid);
  const { generation } = self.object.metadata;
  const redactor = createRedactor();
  const turn: Turn<R, X> = {
    // Logs and traces show what is thrown as it is.
    engine: { ...engine, span: (name, run) => engine.span(name, () => redactor.rethrown(run)) },
    self,
    owner,
    generation,
    signal,
    now: new Date(engine.clock.now()),
    redactor,
    past: pastOf(notes, generation),
  };
  try {
    const leaving = self.object.metadata.deletionTimestamp !== undefined;
    const outcome = leaving ? await end(turn, memory, notes, ref) : await converge(turn, notes);
    noteOutcome(notes, generation, outcome);
    return outcome.fault === undefined ? outcome : { ...outcome, fault: redactor.error(outcome.fault) };
  } catch (thrown) {
    const error = redactor.error(thrown);
    noteFailure(notes, generation, signal.aborted ? undefined : failureOf(turn, error));
    await turn.engine.span('status', () => reportFailure(turn, error));
    throw error;
  }
}

/** The instance is there to stay: make the cluster as it is decided. */
async function converge<R extends Resource, X>(turn: Turn<R, X>, notes: Notes): Promise<Outcome> {
  const { operator, span } = turn.engine;
  const owned = collectOwned(turn);
  await protectOrphans(turn, owned);
  const parsed = turn.engine.parse(turn.self.object);
  if (!parsed.ok) {
    const invalid = reject<R>({ reason: 'InvalidSpec', message: formatProblems(parsed.problems) });
    return span('status', () => concludeReject(turn, invalid));
  }
  const observed = await span('observe', () => observe(turn, parsed.instance, owned));
  const decision = await span('decide', async () => decide(operator, observed));
  if (decision.kind === 'wait') return span('status', () => concludeWait(turn, decision));
  if (decision.kind === 'reject') return span('status', () => concludeReject(turn, decision));
  if (decision.kind === 'expire') return span('expire', () => concludeExpire(turn, decision));
  const wanted = toWanted(operator, turn.owner, decision.objects);
  for (const { object } of wanted) turn.redactor.learn(object);
  const plan = await span('plan', async () => planTurn(turn, wanted, owned, decision));
  const executed = await span('execute', () => executeTurn(turn, wanted, owned, plan));
  const effects = await span('effects', () => runEffects(turn, decision.effects ?? []));
  tellNews(turn, notes, decision.events);
  return span('status', () => concludeApply(turn, decision, wanted, executed, effects));
}

/** The instance is being deleted: clean up what nobody else does, then let it go. */
async function end<R extends Resource, X>(turn: Turn<R, X>, memory: Memory, notes: Notes, ref: Ref): Promise<Outcome> {
  if (hasFinalizer(turn)) {
    notes.finalizingSince ??= turn.now.getTime();
    const since = notes.finalizingSince;
    const pending = await turn.engine.span('finalize', () => finalize(turn, since));
    if (pending !== undefined) return turn.engine.span('status', () => concludePending(turn, pending));
  }
  memory.forget(ref);
  return { result: 'deleted', steps: 0, statusWritten: false };
}
