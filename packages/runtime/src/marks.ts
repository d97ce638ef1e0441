/**
 * The marks that Keelson leaves on objects: how ownership is written down in the cluster. Anything that is deleted carries
 * all of `operator` and `ownerUid` with our values; nothing else is ever deleted.
 *
 * The labels of `app.kubernetes.io` are written for other tools and never read: policies and other tools rewrite them.
 */
import { hash } from 'node:crypto';
import { apiVersionOf, type Kind, type KubeObject, type OwnerReference } from '@keelson/schema';

export const marks = {
  /** Label: the field manager of the operator, e.g. `security-operator`. What is watched is selected by it. */
  operator: 'keelson.io/operator',
  /** Label for other tools: the same, by the name that they know. */
  managedBy: 'app.kubernetes.io/managed-by',
  /** Label for other tools: `<namespace>-<name>` of the owner (`<name>` if cluster-scoped), shortened with a hash to fit 63 characters. */
  partOf: 'app.kubernetes.io/part-of',
  /** Label: uid of the owner. */
  ownerUid: 'keelson.io/owner-uid',
  /** Annotation: kind, namespace and name of the owner, for people: `Website/shop/front`. */
  owner: 'keelson.io/owner',
  /** Annotation on an instance: `orphan` leaves everything it owns running when it is deleted. */
  deletionPolicy: 'keelson.io/deletion-policy',
  /** Finalizer on instances that own what garbage collection cannot reach. */
  finalizer: 'keelson.io/finalizer',
} as const;

/** Who marks are made for: one instance and the operator that works for it. */
export interface Owner {
  readonly kind: Kind;
  readonly name: string;
  /** Absent for a cluster-scoped instance. */
  readonly namespace?: string;
  readonly uid: string;
  readonly fieldManager: string;
}

/** The owner that an instance is to its children. */
export function toOwner(operator: { readonly resource: Kind; readonly fieldManager: string }, self: KubeObject): Owner {
  const { name, namespace, uid } = self.metadata;
  return {
    kind: operator.resource,
    name,
    ...(operator.resource.scope === 'Namespaced' && namespace !== undefined ? { namespace } : {}),
    uid: uid ?? unknownUid,
    fieldManager: operator.fieldManager,
  };
}

/** Stands for the uid of an instance that was never stored (offline rendering). */
export const unknownUid = '00000000-0000-0000-0000-000000000000';

/** `Website/shop/front`: the value of the owner annotation. */
export function ownerText(owner: Pick<Owner, 'kind' | 'name' | 'namespace'>): string {
  return owner.namespace === undefined
    ? `${owner.kind.kind}/${owner.name}`
    : `${owner.kind.kind}/${owner.namespace}/${owner.name}`;
}

/** Labels that every child of this owner carries. */
export function ownerLabels(owner: Owner): Record<string, string> {
  const whole = owner.namespace === undefined ? owner.name : `${owner.namespace}-${owner.name}`;
  return {
    [marks.managedBy]: owner.fieldManager,
    [marks.partOf]: toLabelValue(whole),
    [marks.operator]: owner.fieldManager,
    [marks.ownerUid]: owner.uid,
  };
}

/** The label selector that finds everything an operator has made. */
export function operatorSelector(fieldManager: string): string {
  return `${marks.operator}=${fieldManager}`;
}

/** The controller reference to this owner. */
export function ownerReference(owner: Owner): OwnerReference {
  return {
    apiVersion: apiVersionOf(owner.kind),
    kind: owner.kind.kind,
    name: owner.name,
    uid: owner.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/**
 * True when garbage collection can follow an owner reference from a child in this place to the owner: a namespaced owner
 * reaches its own namespace only, a cluster-scoped one reaches everywhere (Kubernetes docs, "Owners and Dependents").
 */
export function isReachable(owner: Pick<Owner, 'namespace'>, kind: Kind, namespace: string | undefined): boolean {
  return owner.namespace === undefined || (kind.scope === 'Namespaced' && namespace === owner.namespace);
}

/** True when the object carries all the marks without which nothing is ever deleted. */
export function isMarked(object: KubeObject, owner: Pick<Owner, 'fieldManager' | 'uid'>): boolean {
  const labels = object.metadata.labels;
  return labels?.[marks.operator] === owner.fieldManager && labels[marks.ownerUid] === owner.uid;
}

/**
 * A label value for any text: the text itself where it is one; else what of it a label may hold, cut to the 63 characters that
 * Kubernetes allows and told apart from others by a hash.
 */
export function toLabelValue(text: string): string {
  if (/^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/.test(text)) return text;
  const plain = text.replaceAll(/[^A-Za-z0-9._-]/g, '-').replace(/^[._-]+/, '');
  // Ends in letters and digits, as a label value must, whatever the cut left before the hash.
  return `${plain === '' ? 'x' : plain.slice(0, 54)}-${hash('sha256', text, 'hex').slice(0, 8)}`;
}
