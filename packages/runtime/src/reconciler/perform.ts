/** Plan and execute for one turn: fits the pure plan to the caches and claims, and keeps the finalizer in step with the children. */
import type { Kind, Ref } from '@keelson/schema';
import { holdsUid } from '../cache/object-index.ts';
import type { Apply } from '../decision.ts';
import type { Effect } from '../effect.ts';
import type { EffectReport } from '../effects/runner.ts';
import { type Executed, execute } from '../execute/execute.ts';
import { addFinalizer, dropFinalizer, hasFinalizer, isOrphaning, needsFinalizer } from '../finalize/finalizer.ts';
import { isMarked } from '../marks.ts';
import { type Child, type Plan, planInstance } from '../plan/plan.ts';
import { objectKey, type Wanted } from '../plan/wanted.ts';
import { createReader } from '../reader.ts';
import { collectOwned } from './observe.ts';
import type { Turn } from './turn.ts';

/** Plans a turn; claims what it wants on the way. */
export function planTurn(
  turn: Turn,
  wanted: readonly Wanted[],
  owned: readonly Child[],
  { adopt, keep }: Pick<Apply<never>, 'adopt' | 'keep'>,
): Plan {
  const { claims, primary, stores, settled } = turn.engine;
  const { owner } = turn;
  const find = (kind: Kind, ref: Ref) => stores.owned(kind).get(ref);
  // What carries somebody else's marks is theirs, whoever claims it; anything else goes to who comes first.
  const claimable = wanted.flatMap(({ kind, object }) => {
    const live = find(kind, object.metadata);
    return live === undefined || isMarked(live.object, owner) ? [objectKey(kind, object.metadata)] : [];
  });
  const taken = claims.claim(owner, claimable);
  for (const { kind, live } of owned) {
    // On its way out: whether by us or by somebody else is known already.
    if (live.object.metadata.deletionTimestamp !== undefined) continue;
    claims.saw(owner, objectKey(kind, live.object.metadata));
  }
  return planInstance({
    owner,
    wanted,
    owned,
    find,
    ...(adopt === undefined ? {} : { adopt }),
    ...(keep === undefined ? {} : { keep }),
    lives: (uid) => holdsUid(primary, uid),
    claimedBy: (key) => taken.get(key),
    wasThere: (key) => claims.wasThere(owner, key),
    settled,
  });
}

/** Carries out a plan; the finalizer is there before the first child that needs it, and until the last one is gone. */
export async function executeTurn(
  turn: Turn,
  wanted: readonly Wanted[],
  owned: readonly Child[],
  plan: Plan,
): Promise<Executed> {
  const needed = needsFinalizer(turn, wanted, owned);
  if (needed && !hasFinalizer(turn)) await addFinalizer(turn);
  const executed = await execute(turn, plan);
  if (hasFinalizer(turn) && !needsFinalizer(turn, wanted, collectOwned(turn))) await dropFinalizer(turn);
  return executed;
}

/** Holds an instance whose children are to outlive it, whatever the operator decides: without the finalizer they go with it. */
export async function protectOrphans(turn: Turn, owned: readonly Child[]): Promise<void> {
  const { object } = turn.self;
  if (owned.length > 0 && isOrphaning(object) && !hasFinalizer(turn)) await addFinalizer(turn);
}

/** Runs the effects that are due. */
export function runEffects(turn: Turn, effects: readonly Effect[]): Promise<EffectReport> {
  const { engine, owner, signal, redactor } = turn;
  const { operator, client } = engine;
  if (effects.length > 0) engine.fence.check();
  const read = createReader({ operator, client, namespace: owner.namespace, signal, redactor });
  const context = { read, signal, ...(owner.namespace === undefined ? {} : { namespace: owner.namespace }) };
  return engine.effects.run(owner.uid, { effects, context, redactor });
}
