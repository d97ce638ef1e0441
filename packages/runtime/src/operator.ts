/**
 * An operator is a value: a resource, the kinds it owns, and one pure synchronous function from what was observed to what
 * should be. Everything else (reads, writes, order, retries, status, permissions, docs) follows from this value.
 *
 * Invariant: `reconcile`, `relate`, `finalize` and the admission functions are pure: same input, same answer, no I/O, no clock.
 * The manager runs them in production, and `render`, `plan` and the tests run the very same ones.
 */
import {
  type Duration,
  type Grant,
  type Instance,
  type Kind,
  type KubeObject,
  type Resource,
  resourceNameOf,
  toMilliseconds,
} from '@keelson/schema';
import type { Decision, Finalization } from './decision.ts';
import type { EffectHandler } from './effect.ts';
import type { Lifecycle } from './lifecycle.ts';
import { marks } from './marks.ts';
import type { ObjectSet, Observed } from './observed.ts';
import { isMap } from './plan/value.ts';
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

function flawsOf<R extends Resource, X>(operator: Operator<R, X>): string[] {
  return [...flawsOfNames(operator), ...flawsOfKinds(operator), ...flawsOfRules(operator)];
}

function flawsOfNames(operator: Pick<Operator, 'name' | 'fieldManager' | 'finalizer'>): string[] {
  const flaws: string[] = [];
  if (!/^[a-z]([a-z0-9-]*[a-z0-9])?$/.test(operator.name))
    flaws.push("name must be lower-case letters, digits and dashes and start with a letter, e.g. 'website'");
  // It is the value of a label on every child.
  if (!/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(operator.fieldManager))
    flaws.push(
      `fieldManager '${operator.fieldManager}' must be at most 63 letters, digits, dashes, dots or underscores`,
    );
  const [domain = '', name = '', ...rest] = operator.finalizer.split('/');
  const isDomain =
    domain.length <= 253 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/.test(domain);
  const isName = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(name);
  if (!isDomain || !isName || rest.length > 0)
    flaws.push(
      `finalizer '${operator.finalizer}' must be a domain of yours, a slash and a name, e.g. 'example.io/cleanup'`,
    );
  return flaws;
}

function flawsOfKinds(operator: Pick<Operator, 'resource' | 'owns' | 'watches' | 'reads'>): string[] {
  const flaws = operator.watches.flatMap(flawsOfFields);
  const owned = operator.owns.map(({ kind }) => resourceNameOf(kind));
  for (const [i, { kind, anywhere }] of operator.owns.entries()) {
    const name = resourceNameOf(kind);
    if (owned.indexOf(name) !== i) flaws.push(`owns ${name} twice: remove one, or pick one version of it`);
    if (anywhere === true && kind.scope === 'Cluster')
      flaws.push(`owns ${name} with anywhere, but it is cluster-scoped: leave anywhere out`);
  }
  if (owned.includes(resourceNameOf(operator.resource)))
    flaws.push(
      `owns its own resource ${resourceNameOf(operator.resource)}: an instance cannot make others of its kind, define a second resource`,
    );
  for (const { kind, namespace, names, why } of operator.reads) {
    const name = resourceNameOf(kind);
    if (why.trim() === '') flaws.push(`reads ${name} without saying why: the text goes into the permissions reference`);
    if (namespace !== undefined && kind.scope === 'Cluster')
      flaws.push(`reads ${name} in namespace '${namespace}', but it is cluster-scoped: leave the namespace out`);
    if (names !== undefined && names.length === 0)
      flaws.push(`reads ${name} with an empty list of names: name what it reads, or leave names out to read any`);
  }
  return flaws;
}

function flawsOfFields({ kind, fields, metadataOnly }: Pick<Watch, 'kind' | 'fields' | 'metadataOnly'>): string[] {
  if (fields === undefined) return [];
  const watches = `watches ${resourceNameOf(kind)}`;
  const flaws = fields.flatMap((path) => {
    const names = path.split('.');
    if (names.some((name) => name.trim() === '' || /[[\]*]/.test(name)))
      return [`${watches} with the field '${path}': write names with dots between them, e.g. 'status.conditions'`];
    if (['apiVersion', 'kind', 'metadata'].includes(names[0] ?? ''))
      return [`${watches} with the field '${path}': ${names[0]} is always held, leave it out`];
    return [];
  });
  if (metadataOnly === true) flaws.push(`${watches} with both metadataOnly and fields: choose one`);
  else if (fields.length === 0) flaws.push(`${watches} with an empty list of fields: write metadataOnly: true`);
  return flaws;
}

function flawsOfRules<R extends Resource, X>(operator: Operator<R, X>): string[] {
  const flaws: string[] = [];
  for (const task of ['reconcile', 'finalize'] as const) {
    const rule: unknown = operator[task];
    if (rule === undefined && task === 'finalize') continue;
    if (typeof rule !== 'function') flaws.push(`${task} must be a function`);
    else if (rule.constructor.name === 'AsyncFunction')
      flaws.push(`${task} is async, but it must be pure: read in observe, write by what it returns`);
  }
  for (const [name, handler] of Object.entries(operator.effects)) {
    if (typeof handler !== 'function') flaws.push(`effects.${name} must be a function: make it with defineEffect`);
  }
  if (!Number.isInteger(operator.concurrency) || operator.concurrency < 1)
    flaws.push(`concurrency must be a whole number of at least 1, not ${operator.concurrency}`);
  for (const span of ['resync', 'finalizeDeadline', 'observeTimeout'] as const) {
    try {
      if (toMilliseconds(operator[span]) <= 0) flaws.push(`${span} must be longer than nothing`);
    } catch (error) {
      flaws.push(`${span}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const field = operator.lifecycle?.field;
  const status = operator.resource.versions.find((version) => version.storage)?.status;
  if (field !== undefined && !hasField(status, field.split('.')))
    flaws.push(`its lifecycle is kept in status.${field}, which the status of ${operator.resource.kind} does not have`);
  return flaws;
}

/** Whether a schema has this field; one that does not say what it has may have any. */
function hasField(schema: unknown, [name, ...rest]: readonly string[]): boolean {
  const properties = isMap(schema) ? schema.properties : undefined;
  if (name === undefined || !isMap(properties)) return true;
  return name in properties && hasField(properties[name], rest);
}
