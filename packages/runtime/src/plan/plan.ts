/**
 * The plan: what must change so that the cluster is as decided. Pure, and the only place that compares.
 *
 * Invariants: planning what was just applied gives no step; the order of the inputs does not matter; nothing is ever deleted
 * that does not carry our marks and the owner's uid; an object of somebody else is refused, not taken.
 */
import type { Kind, KubeObject } from '@keelson/schema';

/** One field that differs. */
export interface Change {
  /** `spec.template.spec.containers[name=web].image` */
  readonly path: string;
  readonly from: unknown;
  readonly to: unknown;
}

export type Step =
  | { readonly action: 'create'; readonly kind: Kind; readonly object: KubeObject; readonly because: string }
  | { readonly action: 'change'; readonly kind: Kind; readonly object: KubeObject; readonly live: KubeObject; readonly changes: readonly Change[]; readonly because: string; /** The pod template differs: pods will be replaced. */ readonly restarts: boolean }
  | { readonly action: 'delete'; readonly kind: Kind; readonly live: KubeObject; readonly because: string };

/** A wanted object that belongs to somebody else. */
export interface Refusal {
  readonly kind: Kind;
  readonly object: KubeObject;
  readonly because: string;
}

export interface Plan {
  /** In the order in which they are carried out. */
  readonly steps: readonly Step[];
  readonly refusals: readonly Refusal[];
}
