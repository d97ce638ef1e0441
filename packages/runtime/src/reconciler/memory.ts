/**
 * What the engine remembers of each instance between turns, all of it only to save work or to be polite: losing it in a crash
 * costs nothing but a repeated event. Bounded by the number of instances, and forgotten with them.
 */

import type { Ref } from '@keelson/schema';
import { toKey } from '../key.ts';
import type { Outcome } from './conclude.ts';
import type { Past, TurnFailure } from './turn.ts';

export interface Notes {
  readonly uid: string;
  /** Turns that failed in a row. */
  failures: number;
  /** Why the last turn that applied did not come all the way, and on which generation. */
  failure: (TurnFailure & { readonly generation: number | undefined }) | undefined;
  /** When this process first tried to finalize it, in milliseconds since the epoch. */
  finalizingSince: number | undefined;
  /** What the last decision had to tell. */
  told: ReadonlySet<string>;
}

export interface Memory {
  /** The notes on the instance that now has this name; those on another that had it before are forgotten. */
  of(ref: Ref, uid: string): Notes;
  /** Nobody has this name any more. */
  forget(ref: Ref): void;
  readonly size: number;
}

/** `onForget` is told the uid of each instance that is gone. */
export function createMemory(onForget: (uid: string) => void): Memory {
  const known = new Map<string, Notes>();
  const drop = (key: string): void => {
    const notes = known.get(key);
    if (notes === undefined) return;
    known.delete(key);
    onForget(notes.uid);
  };
  return {
    of(ref, uid) {
      const key = toKey(ref);
      const notes = known.get(key);
      if (notes?.uid === uid) return notes;
      drop(key);
      const fresh: Notes = { uid, failures: 0, failure: undefined, finalizingSince: undefined, told: new Set() };
      known.set(key, fresh);
      return fresh;
    },
    forget: (ref) => drop(toKey(ref)),
    get size() {
      return known.size;
    },
  };
}

/** What the next turn, on this generation, is to know: a failure of another spec is no news of this one. */
export function pastOf({ failures, failure }: Notes, generation: number | undefined): Past {
  return { failures, failure: failure?.generation === generation ? failure : undefined };
}

/** A turn came to its end. One that applied nothing (the operator waits) leaves the failure of the one before standing. */
export function noteOutcome(notes: Notes, generation: number | undefined, outcome: Outcome): void {
  notes.failures = outcome.fault === undefined ? 0 : notes.failures + 1;
  if (outcome.failure !== undefined) notes.failure = { ...outcome.failure, generation };
  else if (outcome.result === 'applied') notes.failure = undefined;
}

/** A turn ended early; without a failure that would mean something to the operator if it was a bug or was cut short. */
export function noteFailure(notes: Notes, generation: number | undefined, failure: TurnFailure | undefined): void {
  notes.failures += 1;
  if (failure !== undefined) notes.failure = { ...failure, generation };
}
