/** What an operator decides from: one instance and the state of the cluster around it, read before and frozen. */
import { type Instance, type Kind, type KubeObject, type Ref, type Resource, resourceNameOf } from '@keelson/schema';
import type { EffectOutcome } from './effect.ts';
import type { Obstacle } from './status/obstacle.ts';

/** A read-only set of live objects. */
export interface ObjectSet {
  /** The object of this kind and name; `namespace` defaults to the instance's own for a namespaced kind. */
  get<T extends KubeObject>(kind: Kind<T>, ref: string | Ref): T | undefined;
  list<T extends KubeObject>(kind: Kind<T>): readonly T[];
  readonly size: number;
}

export interface Observed<R extends Resource = Resource, X = unknown> {
  /** The instance: validated against the schema, defaulted, frozen. */
  readonly self: Instance<R>;
  /** What this instance owns, as it is now. */
  readonly owned: ObjectSet;
  /** What the operator's watches relate to this instance. */
  readonly related: ObjectSet;
  /** Whether the cluster has this kind, of those that the operator owns or watches: for what it declares optional. */
  served(kind: Kind): boolean;
  /** What `observe` returned. */
  readonly external: X;
  /** How the effects that were asked for before have ended, by their key. */
  readonly effects: ReadonlyMap<string, EffectOutcome>;
  /**
   * Why the last decision on this spec could not be carried out (as in the Applied condition); undefined when it was, and
   * offline. `obstacles` has the same by object, empty for what is not about single objects; `tellObstacles` makes words of them.
   */
  readonly failure?: {
    readonly reason: string;
    readonly message: string;
    readonly obstacles: readonly Obstacle[];
  };
  readonly now: Date;
}

/** A set of these objects; refs without a namespace mean `namespace`, that of the instance. */
export function createObjectSet(
  objects: Iterable<{ readonly kind: Kind; readonly object: KubeObject }>,
  namespace: string | undefined,
): ObjectSet {
  const byKind = new Map<string, Map<string, KubeObject>>();
  let size = 0;
  for (const { kind, object } of objects) {
    const name = resourceNameOf(kind);
    const ofKind = byKind.get(name) ?? new Map<string, KubeObject>();
    byKind.set(name, ofKind);
    const key = placeOf(kind, object.metadata);
    if (!ofKind.has(key)) size += 1;
    ofKind.set(key, object);
  }
  return Object.freeze({
    size,
    get<T extends KubeObject>(kind: Kind<T>, ref: string | Ref): T | undefined {
      const place = typeof ref === 'string' ? { name: ref } : ref;
      const key = placeOf(kind, { ...(namespace === undefined ? {} : { namespace }), ...place });
      return byKind.get(resourceNameOf(kind))?.get(key) as T | undefined;
    },
    list<T extends KubeObject>(kind: Kind<T>): readonly T[] {
      return [...(byKind.get(resourceNameOf(kind))?.values() ?? [])] as T[];
    },
  });
}

function placeOf(kind: Kind, ref: Ref): string {
  return kind.scope === 'Cluster' ? ref.name : `${ref.namespace ?? ''}/${ref.name}`;
}
