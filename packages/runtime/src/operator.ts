/**
 * An operator is a value: a resource, the kinds it owns, and one pure synchronous function from what was observed to what
 * should be. Everything else (reads, writes, order, retries, status, permissions, docs) follows from this value.
 *
 * Invariant: `reconcile`, `relate`, `finalize` and the admission functions are pure: same input, same answer, no I/O, no clock.
 * The manager runs them in production, and `render`, `plan` and the tests run the very same ones.
 */
import type { Duration, Grant, Instance, Kind, KubeObject, Resource } from '@keelson/schema';
import type { Decision, Finalization } from './decision.ts';
import type { EffectHandler } from './effect.ts';
import type { Lifecycle } from './lifecycle.ts';
import { marks } from './marks.ts';
import type { ObjectSet, Observed } from './observed.ts';
import { flawsOf } from './operator-flaws.ts';
import type { Admission } from './webhook/admission.ts';

/** A kind the operator creates, changes and deletes. A bare kind means: in the owner's namespace (or cluster-scoped). */
export interface Owned {
  readonly kind: Kind;
  /** Namespaced children may stand in other namespaces than their owner's. */
  readonly anywhere?: boolean;
  /**
   * The cluster may lack this kind: the operator works without it, `observed.served(kind)` tells, every instance is looked at
   * again when it comes or goes, and an object of it that is wanted meanwhile is named in the Applied condition.
   */
  readonly optional?: boolean;
  /**
   * An object of this kind is deleted and made anew when what is to change cannot change on an existing one (the template of a
   * Job, a selector, a roleRef). What it runs or holds ends with it.
   */
  readonly replace?: boolean;
  /** The only names that its objects ever have: its permissions are for these alone, and each is followed by itself. */
  readonly names?: readonly string[];
}

/** Which objects of a watched kind belong to one instance. */
export type Related =
  | { readonly name: string; readonly namespace?: string }
  | { readonly labels: Readonly<Record<string, string>>; readonly namespace?: string }
  | 'all';

/**
 * A kind the operator looks at but does not own. `relate` is the one place that says which of its objects matter to an
 * instance: the engine hands those to `reconcile` as `related`, and wakes the instance when one of them changes. It may be the
 * operator's own resource: then the other instances are related, never the instance itself.
 */
export interface Watch<R extends Resource = Resource> {
  readonly kind: Kind;
  relate(self: Instance<R>): readonly Related[];
  /** Hold names, labels and annotations only: a fraction of the memory. */
  readonly metadataOnly?: boolean;
  /**
   * Hold only what stands at these paths, e.g. `status.conditions`, beside the metadata. A path goes through every item of a list:
   * `status.containerStatuses.state`. A change of nothing else wakes nobody.
   */
  readonly fields?: readonly string[];
  /** The cluster may lack this kind: the operator works without it, and `observed.served(kind)` tells. */
  readonly optional?: boolean;
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
  /** What this instance owns, as it is now: so that what is made once (a key, a password) is found again. */
  readonly owned: ObjectSet;
  readonly read: Reader;
  /** The time that `reconcile` will be told; use no other clock. */
  readonly now: Date;
  readonly signal: AbortSignal;
}

/**
 * What `defineOperator` takes. The functions are declared as methods because the parameters of methods are compared both ways:
 * so an operator of any resource is also an `Operator`, and a list of operators needs no type tricks.
 */
export interface OperatorDefinition<R extends Resource, X> {
  /** Lower-case, unique in a process: names the controller in metrics, logs and labels. */
  readonly name: string;
  readonly resource: R;
  /** Field manager of everything it applies, and the value of the label `keelson.io/operator`. Default `<name>-operator`. */
  readonly fieldManager?: string;
  /** The finalizer on instances that own what garbage collection cannot reach: a domain, a slash and a name. Default `keelson.io/finalizer`. */
  readonly finalizer?: string;
  readonly owns: readonly (Kind | Owned)[];
  readonly watches?: readonly Watch<R>[];
  readonly reads?: readonly Read[];
  /** Further permissions, such as those that it passes on in the Roles it makes (Kubernetes lets nobody grant what he does not have). */
  readonly grants?: readonly Grant[];
  /** Gathers what is outside the caches (another API, a Secret); its result reaches `reconcile` as `external`. */
  observe?(context: ObserveContext<R>): Promise<X>;
  /** How long `observe` may take; then the turn has failed and is tried again later. Default 30s. */
  readonly observeTimeout?: Duration;
  /** The rules: what should be, given what is. */
  reconcile(observed: Observed<R, X>): Decision<R>;
  /** What to do outside the cluster before an instance goes. Children need no code: the engine removes them. */
  finalize?(observed: Observed<R, X>): Finalization<R>;
  readonly effects?: Readonly<Record<string, EffectHandler>>;
  readonly admission?: Admission<R>;
  /** A state machine in the status: the engine refuses illegal transitions, and makes each legal one an event and a metric. */
  readonly lifecycle?: Lifecycle;
  /** It ends instances itself, by answering `expire`: it may delete them. */
  readonly expires?: boolean;
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
  extends Omit<
    OperatorDefinition<R, X>,
    | 'owns'
    | 'fieldManager'
    | 'finalizer'
    | 'watches'
    | 'reads'
    | 'concurrency'
    | 'resync'
    | 'finalizeDeadline'
    | 'observeTimeout'
    | 'effects'
  > {
  readonly fieldManager: string;
  readonly finalizer: string;
  readonly owns: readonly Owned[];
  readonly watches: readonly Watch<R>[];
  readonly reads: readonly Read[];
  readonly effects: Readonly<Record<string, EffectHandler>>;
  readonly concurrency: number;
  readonly resync: Duration;
  readonly finalizeDeadline: Duration;
  readonly observeTimeout: Duration;
}

/** Checks a definition and fills in its defaults; throws and names every flaw with its remedy. */
export function defineOperator<R extends Resource, X = undefined>(
  // Only `resource` decides R: what the rules return would be a second opinion.
  definition: OperatorDefinition<NoInfer<R>, X> & { readonly resource: R },
): Operator<R, X> {
  const owns = (definition.owns ?? []).map((entry): Owned => ('plural' in entry ? { kind: entry } : entry));
  const operator: Operator<R, X> = {
    ...definition,
    fieldManager: definition.fieldManager ?? `${definition.name}-operator`,
    finalizer: definition.finalizer ?? marks.finalizer,
    owns,
    watches: definition.watches ?? [],
    reads: definition.reads ?? [],
    effects: definition.effects ?? {},
    concurrency: definition.concurrency ?? 4,
    resync: definition.resync ?? '10m',
    finalizeDeadline: definition.finalizeDeadline ?? '10m',
    observeTimeout: definition.observeTimeout ?? '30s',
  };
  const flaws = flawsOf(operator);
  if (flaws.length > 0) throw new TypeError(`operator '${definition.name}': ${flaws.join('; ')}`);
  return Object.freeze(operator);
}
