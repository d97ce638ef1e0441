/**
 * Renders an instance with no cluster at hand: exactly the objects that the operator would apply, by the very functions that run
 * in production. What only a cluster could tell (other objects, what `observe` reads, a uid) can be given, or is left empty.
 */
import {
  type Instance,
  type Kind,
  type KubeObject,
  type Problem,
  type Resource,
  resourceNameOf,
} from '@keelson/schema';
import { createTrim, holdOf } from './cache/projection.ts';
import { createInterner } from './cache/sharing.ts';
import type { Decision } from './decision.ts';
import type { EffectOutcome } from './effect.ts';
import { toOwner } from './marks.ts';
import { createObjectSet } from './observed.ts';
import type { Operator } from './operator.ts';
import { freeze } from './plan/value.ts';
import { toWanted } from './plan/wanted.ts';
import { decide } from './reconciler/decide.ts';
import { isInstance } from './relations/related.ts';
import { reviewInstance } from './webhook/review-instance.ts';

interface Related {
  readonly kind: Kind;
  readonly object: KubeObject;
}

/** What the operator is to see beside the instance. */
export interface Surroundings<X = unknown> {
  /** For an instance that names none. Default `default`. */
  readonly namespace?: string;
  readonly owned?: readonly { readonly kind: Kind; readonly object: KubeObject }[];
  /** Given whole; the operator sees what its watches hold of them. */
  readonly related?: readonly Related[];
  /** In place of what `observe` would return. */
  readonly external?: X;
  /** Kinds that the cluster does not have; every other one is taken to be there. */
  readonly notServed?: readonly Kind[];
  readonly effects?: ReadonlyMap<string, EffectOutcome>;
  readonly now?: Date;
}

export interface Rendering<R extends Resource> {
  /** What is wrong with the instance; if anything is, nothing was decided. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  readonly decision?: Decision<R>;
  /** In apply order, with marks and owner references; empty unless the decision is to apply. */
  readonly objects: readonly KubeObject[];
}

/** What an operator would make of an instance. Pure. */
export function renderInstance<R extends Resource, X>(
  operator: Operator<R, X>,
  object: KubeObject,
  surroundings: Surroundings<X> = {},
): Rendering<R> {
  const admitted = admitInstance(operator, withNamespace(operator.resource, object, surroundings.namespace));
  if (admitted.instance === undefined) return { problems: admitted.problems, warnings: admitted.warnings, objects: [] };
  const { instance, warnings } = admitted;
  const owner = toOwner(operator, instance);
  const others = (surroundings.related ?? []).filter(
    ({ kind, object: one }) => !isInstance(operator.resource, instance, kind, one),
  );
  const missing = new Set(surroundings.notServed?.map(resourceNameOf));
  const decision = decide(
    operator,
    Object.freeze({
      self: instance,
      owned: createObjectSet(freeze(surroundings.owned ?? []), owner.namespace),
      related: createObjectSet(freeze(asHeld(operator, others)), owner.namespace),
      served: (kind: Kind) => !missing.has(resourceNameOf(kind)),
      external: surroundings.external as X,
      effects: surroundings.effects ?? new Map(),
      now: surroundings.now ?? new Date(),
    }),
  );
  const wanted = decision.kind === 'apply' ? toWanted(operator, owner, decision.objects) : [];
  return { problems: [], warnings, decision, objects: wanted.map((one) => one.object) };
}

/** Related objects as the caches would have them, so that rules which read what is not held fail here too. */
function asHeld<R extends Resource, X>(operator: Operator<R, X>, related: readonly Related[]): readonly Related[] {
  return related.map(({ kind, object }) => {
    const watches = operator.watches.filter((watch) => resourceNameOf(watch.kind) === resourceNameOf(kind));
    const [watch] = watches;
    // Which of several watches this one stands for is not said.
    if (watch === undefined || watches.length > 1) return { kind, object };
    return { kind, object: createTrim({ hold: holdOf(watch), managers: new Set(), intern: createInterner() })(object) };
  });
}

/** The instance as the API server would store it: defaulted, changed by the operator's admission, checked. */
export function admitInstance<R extends Resource, X>(operator: Operator<R, X>, object: KubeObject, old?: KubeObject) {
  const { object: stored, problems, warnings } = reviewInstance(operator, object, old === undefined ? {} : { old });
  return { problems, warnings, instance: problems.length === 0 ? freeze(stored as Instance<R>) : undefined };
}

/** kubectl puts objects that name no namespace into the current one. */
export function withNamespace(resource: Resource, object: KubeObject, namespace = 'default'): KubeObject {
  if (resource.scope === 'Cluster' || object.metadata?.namespace !== undefined) return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}
