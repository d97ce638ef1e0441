/**
 * The marks that Keelson leaves on objects: how ownership is written down in the cluster. Anything that is deleted carries
 * all of `managedBy` and `ownerUid` with our values; nothing else is ever deleted.
 */
export const marks = {
  /** Label: the field manager of the operator, e.g. `security-operator`. */
  managedBy: 'app.kubernetes.io/managed-by',
  /** Label: `<namespace>-<name>` of the owner (`<name>` if cluster-scoped), shortened with a hash to fit 63 characters. */
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
