/** How many instances are in each state of their life cycle, counted when somebody asks. */
import type { Store } from '../cache/store.ts';
import type { Lifecycle } from '../lifecycle.ts';

/** Every state has its number, also those that nobody is in; empty without a life cycle. */
export function countStates(
  lifecycle: Lifecycle | undefined,
  instances: Pick<Store, 'list'>,
): ReadonlyMap<string, number> {
  if (lifecycle === undefined) return new Map();
  const counts = new Map(lifecycle.states.map((state) => [state, 0]));
  for (const { object } of instances.list()) {
    const found = lifecycle.stateIn(object.status);
    // A state that the table does not know, left by an older version, counts as the initial one: as `check` has it.
    const state = found !== undefined && counts.has(found) ? found : lifecycle.initial;
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return counts;
}
