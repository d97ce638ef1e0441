/** What an operator decides from: one instance and the state of the cluster around it, read before and frozen. */
import type { Instance, Kind, KubeObject, Ref, Resource } from '@keelson/schema';
import type { EffectOutcome } from './effect.ts';

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
  /** What `observe` returned. */
  readonly external: X;
  /** How the effects that were asked for before have ended, by their key. */
  readonly effects: ReadonlyMap<string, EffectOutcome>;
  readonly now: Date;
}
