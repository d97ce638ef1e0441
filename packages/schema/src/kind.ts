/**
 * A *kind* is a value that names one kind of object and carries the type of its instances. It is the one word used
 * wherever code speaks of kinds: `owns: [Deployment]`, `observed.owned.get(Deployment, name)`, `manifest(Deployment, …)`,
 * `client.get(Deployment, ref)`. It holds what discovery would tell (plural, scope), so that rendering, RBAC and
 * planning work with no cluster.
 */
import type { KubeObject, ObjectMeta } from './object.ts';

/** Phantom key: carries the instance type of a kind, never exists at run time. */
declare const instance: unique symbol;

export interface Kind<T extends KubeObject = KubeObject> {
  /** API group, '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly [instance]?: T;
}

export type InstanceOf<K> = K extends Kind<infer T> ? T : never;

/** Declares a kind that Keelson does not define itself (an upstream CRD, a built-in one). */
export function defineKind<T extends KubeObject = KubeObject>(kind: Omit<Kind, typeof instance>): Kind<T> {
  return Object.freeze({ ...kind });
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf(kind: Pick<Kind, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** `deployments.apps`, or `pods` for the core group: the name of a CRD, and how people write a kind on a command line. */
export function resourceNameOf(kind: Pick<Kind, 'group' | 'plural'>): string {
  return kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
}

/** Builds an object of a kind: apiVersion and kind come from the kind, the rest is checked against its type. */
export function manifest<T extends KubeObject>(
  kind: Kind<T>,
  metadata: ObjectMeta,
  fields: Omit<T, 'apiVersion' | 'kind' | 'metadata' | 'status'>,
): T {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...fields } as unknown as T;
}
