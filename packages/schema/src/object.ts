/**
 * The shape every Kubernetes object shares. Plain data: no classes, no behaviour.
 * `KubeObject` is what crosses every boundary in Keelson; a typed view of it (`Deployment`, `Instance<R>`) is only
 * ever a narrower type of the same plain value.
 */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** One entry of `metadata.managedFields`: which fields a writer owns. */
export interface ManagedFields {
  manager?: string;
  operation?: 'Apply' | 'Update';
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: Readonly<Record<string, unknown>>;
  subresource?: string;
}

export interface ObjectMeta {
  name: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFields[];
}

/** Any Kubernetes object, as plain data. */
export type KubeObject = {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
};

/** Names one object of a kind that is known from the context. `namespace` is absent for cluster-scoped kinds. */
export interface Ref {
  name: string;
  namespace?: string;
}

/** A status condition by the Kubernetes API conventions. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  observedGeneration?: number;
  lastTransitionTime?: string;
}
