/**
 * A *resource* is a kind that we define ourselves: its schema is a TypeBox value, and the CRD, the TypeScript types, the
 * offline validation and the reference docs all come out of that one value.
 *
 * Invariant: whatever a CRD cannot express faithfully fails at definition and names the path; a resource that exists is one
 * that the API server accepts. Only `defineResource` makes one; it is frozen.
 */
import type { TObject, TSchema } from 'typebox';
import type { Kind } from './kind.ts';
import type { Condition, ObjectMeta } from './object.ts';
import type { Rule, StructuralSchema } from './structural/schema.ts';
import type { Visit } from './validate/visit.ts';

/** What the runtime keeps in every status, beside what the resource defines. */
export type BaseStatus = {
  observedGeneration?: number;
  conditions?: Condition[];
};

/**
 * An instance of a resource: the type that an operator's `reconcile` sees as `self`. Every field of the status may be missing:
 * before the first reconcile there is none, and an operator that waits or rejects writes conditions only.
 */
export type CustomObject<Spec, Status> = {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: Spec;
  status?: Partial<Status> & BaseStatus;
};

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  readonly format?: string;
  /** 0 is always shown, greater only with `-o wide`. */
  readonly priority?: number;
}

/** Paths for `kubectl scale` and autoscalers: `.spec.replicas`, `.status.replicas`. */
export interface Scale {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** A string field that holds the label selector of the pods; autoscalers need it. */
  readonly selector?: string;
}

/** What a conversion is given: the object in one version. It is a copy, and may be changed. */
export interface Convertible<Spec = unknown, Status = unknown> {
  readonly metadata: ObjectMeta;
  readonly spec: Spec;
  readonly status?: Partial<Status> & BaseStatus;
}

/** What a conversion gives back. Without `status` the status stays as it is; of the metadata only labels and annotations may change. */
export interface Converted<Spec = unknown, Status = unknown> {
  readonly spec: Spec;
  readonly status?: Partial<Status> & BaseStatus;
  readonly metadata?: Pick<ObjectMeta, 'labels' | 'annotations'>;
}

/** From a version to the stored one and back. What only one side can hold belongs into an annotation, so that a round trip loses nothing. */
export interface Conversion<Spec = unknown, Status = unknown, StoredSpec = unknown, StoredStatus = unknown> {
  toStorage(object: Convertible<Spec, Status>): Converted<StoredSpec, StoredStatus>;
  fromStorage(object: Convertible<StoredSpec, StoredStatus>): Converted<Spec, Status>;
}

/** A status schema that adds nothing to the conditions. */
export type NoStatus = TObject<Record<never, never>>;

/** One version of a resource, as it is written down. */
export interface VersionDefinition<Spec extends TSchema = TSchema, Status extends TSchema = TSchema> {
  /** `v1alpha1`, `v1beta2`, `v1`. */
  readonly name: string;
  /** Default true. */
  readonly served?: boolean;
  /** Exactly one version is the one that is stored, and the one that operators see. */
  readonly storage?: boolean;
  readonly spec: Spec;
  /** The fields beside `conditions` and `observedGeneration`, which every status has. */
  readonly status?: Status;
  /** Rules about the whole object; `self` has spec, status, metadata.name. Rules about a field stand on the field: `withRules`. */
  readonly rules?: readonly Rule[];
  /** Default: Ready and Age. */
  readonly columns?: readonly Column[];
  readonly scale?: Scale;
  /** Paths of plain fields that `--field-selector` may use: `.spec.serviceType`. */
  readonly selectableFields?: readonly string[];
  readonly deprecated?: boolean;
  /** What clients are told; default: a sentence that names the stored version. */
  readonly deprecationWarning?: string;
  /** Needed on every version whose shape differs from the stored one. `defineVersion` types it. */
  readonly convert?: Conversion;
}

/** One version of a resource, checked and complete. */
export interface ResourceVersion<Spec extends TSchema = TSchema, Status extends TSchema = TSchema>
  extends VersionDefinition<Spec, Status> {
  readonly served: boolean;
  readonly storage: boolean;
  readonly columns: readonly Column[];
  readonly selectableFields: readonly string[];
  readonly deprecated: boolean;
  /** The schema of the whole object, as it stands in the CRD. */
  readonly schema: StructuralSchema;
  /** Validates and defaults an object of this version; compiled at the first call. Use `parseInstance`. */
  readonly visit: Visit;
}

export interface Resource<Spec = unknown, Status = unknown> extends Kind<CustomObject<Spec, Status>> {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly description: string;
  readonly versions: readonly ResourceVersion[];
}

/** The type of `self` for a resource. */
export type Instance<R> = R extends Resource<infer Spec, infer Status> ? CustomObject<Spec, Status> : never;

/** The version that is stored, and that operators see. */
export function storageVersionOf(resource: Resource): ResourceVersion {
  const version = resource.versions.find((candidate) => candidate.storage);
  if (version === undefined)
    throw new TypeError(`${resource.kind} has no stored version. Define it with defineResource.`);
  return version;
}
