/** What an operator answers: one of four outcomes, each a plain value. Faults are thrown by the engine, never decided. */
import type { Condition, Duration, Kind, KubeObject, Ref, Resource } from '@keelson/schema';
import type { Effect } from './effect.ts';

/** A condition as an operator states it: the engine adds lastTransitionTime and observedGeneration. */
export type ConditionNote = Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>;

/** The status of a resource as an operator states it. */
export type StatusNote<R extends Resource> =
  R extends Resource<unknown, infer Status> ? Partial<Status> & { conditions?: readonly ConditionNote[] } : never;

/** Something worth telling the user in the object's events. */
export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface Apply<R extends Resource> {
  readonly kind: 'apply';
  /** Everything that should exist, complete: what is owned and neither in here nor in `keep` is deleted. */
  readonly objects: readonly KubeObject[];
  /**
   * What is owned, not in `objects` and nevertheless left as it is, neither changed nor deleted: so that a part of an operator
   * that cannot be decided now does not lose what it already runs. What is not there is not made, and readiness does not ask for it.
   */
  readonly keep?: readonly (Ref & { readonly kind: Kind })[];
  /**
   * Replaces what this operator said before; conditions and fields of other writers stay. Left out, what it said before stays.
   * Without a `Ready` condition the engine judges the children. `Accepted` and `Applied` are the engine's own.
   */
  readonly status?: StatusNote<R>;
  readonly effects?: readonly Effect[];
  /** Told once: the same note in the next decision is not repeated. */
  readonly events?: readonly EventNote[];
  /** Objects that exist already and may be taken over. Anything else that somebody else made is refused. */
  readonly adopt?: readonly (Ref & { readonly kind: Kind })[];
  readonly recheckAfter?: Duration;
}

export interface Wait<R extends Resource> {
  readonly kind: 'wait';
  /** CamelCase, for the Ready condition. */
  readonly reason: string;
  readonly message: string;
  readonly recheckAfter: Duration;
  readonly status?: StatusNote<R>;
}

export interface Reject<R extends Resource> {
  readonly kind: 'reject';
  readonly reason: string;
  readonly message: string;
  readonly status?: StatusNote<R>;
}

export interface Expire<R extends Resource> {
  readonly kind: 'expire';
  /** CamelCase, for the event. */
  readonly reason: string;
  readonly message: string;
  /** The last that is said, for who looks while the instance is being cleaned up. */
  readonly status?: StatusNote<R>;
}

export type Decision<R extends Resource = Resource> =
  /** This should be. */
  | Apply<R>
  /** Not ours to fix: touch nothing, look again later. */
  | Wait<R>
  /** A bad spec: touch nothing until it changes. */
  | Reject<R>
  /** Its time has come: delete the instance itself. Takes `expires: true` on the operator. */
  | Expire<R>;

export interface Finalization<R extends Resource = Resource> {
  /** All of these must succeed before the instance goes. */
  readonly effects?: readonly Effect[];
  /**
   * `first`: every child is deleted, and is gone, before the instance goes. Left out, this is so only for those that garbage
   * collection does not reach; it removes the others afterwards.
   */
  readonly children?: 'first';
  /** Replaces what this operator said before, while the instance waits and when it goes. */
  readonly status?: StatusNote<R>;
  readonly wait?: { readonly reason: string; readonly message: string; readonly recheckAfter: Duration };
}

export function apply<R extends Resource>(decision: Omit<Apply<R>, 'kind'>): Apply<R> {
  return { kind: 'apply', ...decision };
}
export function wait<R extends Resource>(decision: Omit<Wait<R>, 'kind'>): Wait<R> {
  return { kind: 'wait', ...decision };
}
export function reject<R extends Resource>(decision: Omit<Reject<R>, 'kind'>): Reject<R> {
  return { kind: 'reject', ...decision };
}
export function expire<R extends Resource>(decision: Omit<Expire<R>, 'kind'>): Expire<R> {
  return { kind: 'expire', ...decision };
}
