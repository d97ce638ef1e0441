/** Observe: gathers everything that an operator decides from. Reads only; what comes out is frozen. */
import { type Instance, type Resource, toMilliseconds } from '@keelson/schema';
import { OWNER_UID } from '../cache/object-index.ts';
import { isMarked } from '../marks.ts';
import { createObjectSet, type Observed } from '../observed.ts';
import type { Child } from '../plan/plan.ts';
import { freeze } from '../plan/value.ts';
import { createReader } from '../reader.ts';
import { isInstance, selectRelated } from '../relations/related.ts';
import { withTimeLimit } from '../time-limit.ts';
import type { Turn } from './turn.ts';

/** What carries the marks of this instance, as the caches have it. */
export function collectOwned(turn: Turn): Child[] {
  const { operator, stores } = turn.engine;
  const owned = operator.owns.flatMap(({ kind }) =>
    [...stores.owned(kind).by(OWNER_UID, turn.owner.uid)]
      .filter(({ object }) => isMarked(object, turn.owner))
      .map((live) => ({ kind, live })),
  );
  for (const { live } of owned) turn.redactor.learn(live.object);
  return owned;
}

/** Everything that `reconcile` and `finalize` see. */
export async function observe<R extends Resource, X>(
  turn: Turn<R, X>,
  self: Instance<R>,
  owned: readonly Child[],
): Promise<Observed<R, X>> {
  const { operator, stores, client, clock, effects, hooks } = turn.engine;
  const { namespace } = turn.owner;
  const related = operator.watches.flatMap((watch) => {
    const { kind } = watch;
    const asked = watch.relate(self);
    hooks.related?.(turn.owner, watch, asked);
    return selectRelated(stores.watched(watch), asked, namespace)
      .filter(({ object }) => !isInstance(operator.resource, self, kind, object))
      .map(({ object }) => ({ kind, object: freeze(object) }));
  });
  for (const { object } of related) turn.redactor.learn(object);
  const children = createObjectSet(
    owned.map(({ kind, live }) => ({ kind, object: freeze(live.object) })),
    namespace,
  );
  const gather = (signal: AbortSignal): Promise<X | undefined> => {
    const read = createReader({ operator, client, namespace, signal, redactor: turn.redactor });
    return operator.observe?.({ self, owned: children, read, now: turn.now, signal }) ?? Promise.resolve(undefined);
  };
  const limit = { clock, ms: toMilliseconds(operator.observeTimeout), signal: turn.signal };
  const external = await withTimeLimit({ ...limit, what: `observe of operator ${operator.name}` }, gather);
  const { failure } = turn.past;
  return Object.freeze({
    self,
    owned: children,
    related: createObjectSet(related, namespace),
    served: stores.served,
    // An operator without `observe` has X = undefined.
    external: freeze(external) as X,
    effects: effects.outcomes(turn.owner.uid),
    ...(failure === undefined
      ? {}
      : { failure: freeze({ reason: failure.reason, message: failure.message, obstacles: failure.obstacles }) }),
    now: turn.now,
  });
}
