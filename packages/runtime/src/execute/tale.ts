/**
 * What users are told of the steps of one turn. Repairs and changes are told one by one, because each has its reason. What is made
 * or removed as a matter of course is told together when there is much of it: an instance with forty children is not worth
 * forty events, and what an event recorder lets through for one object at a time should be left for what matters.
 */

/** One thing that was done to one object. */
export interface Told {
  readonly reason: 'Created' | 'Changed' | 'Replaced' | 'Deleted' | 'Adopted';
  readonly action: 'Create' | 'Change' | 'Replace' | 'Delete' | 'Adopt';
  readonly message: string;
  /** The object, and why, when this is a matter of course. */
  readonly routine?: { readonly object: string; readonly because: string };
}

/** Up to this many are told one by one. */
const FEW = 3;

export function created(object: string): Told {
  const routine = { object, because: '' };
  return { reason: 'Created', action: 'Create', message: `created ${object}`, routine };
}

export function createdAgain(object: string, because: string): Told {
  return { reason: 'Created', action: 'Create', message: `created ${object} again: ${because}` };
}

export function adopted(object: string, from: string): Told {
  return { reason: 'Adopted', action: 'Adopt', message: `adopted ${object}, which ${from}` };
}

export function changed(object: string, because: string): Told {
  return { reason: 'Changed', action: 'Change', message: `changed ${object}: ${because}` };
}

export function replaced(object: string, because: string): Told {
  return { reason: 'Replaced', action: 'Replace', message: `deleted ${object} to make it anew: ${because}` };
}

export function deleted(object: string, because: string): Told {
  const routine = { object, because };
  return { reason: 'Deleted', action: 'Delete', message: `deleted ${object}: ${because}`, routine };
}

/** What is told of a turn: as it is when there is little of a sort, else summed up, in the order of the first of each. */
export function summarise(all: readonly Told[]): readonly Told[] {
  const sorts = new Map<string, Told[]>();
  for (const told of all) {
    const sort = told.routine === undefined ? `one ${told.message}` : `${told.reason} ${told.routine.because}`;
    sorts.set(sort, [...(sorts.get(sort) ?? []), told]);
  }
  return [...sorts.values()].flatMap((same) => (same.length <= FEW ? same : [sumUp(same)]));
}

function sumUp(same: readonly Told[]): Told {
  const [first] = same;
  const { reason = 'Created', action = 'Create', routine } = first ?? {};
  const names = same.map((told) => told.routine?.object ?? '').join(', ');
  const because = routine === undefined || routine.because === '' ? '' : ` (${routine.because})`;
  return { reason, action, message: `${reason.toLowerCase()} ${same.length} objects${because}: ${names}` };
}
