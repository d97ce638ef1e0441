/**
 * An operator is a value: a resource, the kinds it owns, and one pure synchronous function from what was observed to what
 * should be. Everything else (reads, writes, order, retries, status, permissions, docs) follows from this value.
 *
 * Invariant: `reconcile`, `relate`, `finalize` and the admission functions are pure: same input, same answer, no I/O, no clock.
 * The manager runs them in production, and `render`, `plan` and the tests run the very same ones.
 */
import type { Duration, Instance, Kind, KubeObject, Resource } from '@keelson/schema';
import type { Admission } from './webhook/admission.ts';
import type { Decision, Finalization } from './decision.ts';
import type { EffectHandler } from './effect.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Observed } from './observed.ts';

/** A kind the operator creates, changes and deletes. A bare kind means: in the owner's namespace (or cluster-scoped). */
export interface Owned {
  readonly kind: Kind;
  /** Namespaced children may stand in other namespaces than their owner's. */
  readonly anywhere?: boolean;
}

/** Which objects of a watched kind belong to one instance. */
export type Related = { readonly name: string; readonly namespace?: string } | { readonly labels: Readonly<Record<string, string>>; readonly namespace?: string } | 'all';

/**
 * A kind the operator looks at but does not own. `relate` is the one place that says which of its objects matter to an
 * instance: the engine hands those to `reconcile` as `related`, and wakes the instance when one of them changes.
 */
export interface Watch<R extends Resource = Resource> {
  readonly kind: Kind;
  readonly relate: (self: Instance<R>) => readonly Related[];
  /** Hold names, labels and annotations only: a fraction of the memory. */
  readonly metadataOnly?: boolean;
  /** Narrow what is held at all. */
  readonly scope?: { readonly namespace?: string; readonly labelSelector?: string; readonly fieldSelector?: string };
}

/** A kind that `observe` or an effect reads from the API server when it needs it, uncached. */
export interface Read {
  readonly kind: Kind;
  /** When the names are known beforehand, the permission is for these alone. */
  readonly names?: readonly string[];
  readonly namespace?: string;
  /** Why, for the permissions reference. */
  readonly why: string;
}

export interface Reader {
  /** Reads one object of a kind that the operator declares in `reads`; undefined when it does not exist. */
  find<T extends KubeObject>(kind: Kind<T>, ref: { name: string; namespace?: string }): Promise<T | undefined>;
}

export interface ObserveContext<R extends Resource> {
  readonly self: Instance<R>;
  readonly read: Reader;
  readonly signal: AbortSignal;
}

export interface OperatorDefinition<R extends Resource, X> {
  /** Lower-case, unique in a process: names the controller in metrics, logs and labels. */
  readonly name: string;
  readonly resource: R;
  /** Field manager of everything it applies, and the value of the managed-by label. Default `<name>-operator`. */
  readonly fieldManager?: string;
  readonly owns: readonly (Kind | Owned)[];
  readonly watches?: readonly Watch<R>[];
  readonly reads?: readonly Read[];
  /** Gathers what is outside the caches (another API, a Secret); its result reaches `reconcile` as `external`. */
  readonly observe?: (context: ObserveContext<R>) => Promise<X>;
  readonly reconcile: (observed: Observed<R, X>) => Decision<R>;
  /** What to do outside the cluster before an instance goes. Children need no code: the engine removes them. */
  readonly finalize?: (observed: Observed<R, X>) => Finalization;
  readonly effects?: Readonly<Record<string, EffectHandler>>;
  readonly admission?: Admission<R>;
  /** A state machine in the status: the engine refuses illegal transitions, and makes each legal one an event and a metric. */
  readonly lifecycle?: Lifecycle;
  /** How many instances are worked on at once. Default 4. */
  readonly concurrency?: number;
  /** How often every instance is looked at again even if nothing changed, at low priority. Default 10m. */
  readonly resync?: Duration;
  /** How long a deletion may wait for finalize or for stuck children before it lets go, with a Warning event. Default 10m. */
  readonly finalizeDeadline?: Duration;
  /** Shown by `keelson explain` and in the reference. */
  readonly description?: string;
}

/** An operator with its defaults filled in: what `defineOperator` returns and everything else takes. */
export interface Operator<R extends Resource = Resource, X = unknown>
  extends Omit<OperatorDefinition<R, X>, 'owns' | 'fieldManager' | 'watches' | 'reads' | 'concurrency' | 'resync' | 'finalizeDeadline' | 'effects'> {
  readonly fieldManager: string;
  readonly owns: readonly Owned[];
  readonly watches: readonly Watch<R>[];
  readonly reads: readonly Read[];
  readonly effects: Readonly<Record<string, EffectHandler>>;
  readonly concurrency: number;
  readonly resync: Duration;
  readonly finalizeDeadline: Duration;
}
