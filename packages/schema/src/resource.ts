/**
 * A *resource* is a kind that we define ourselves: its schema is a TypeBox value, and the CRD, the TypeScript types, the
 * offline validation and the reference docs all come out of that one value.
 *
 * Invariant: whatever `toCrd` cannot express faithfully fails at definition or generation and names the path; a resource
 * that exists is one that the API server accepts.
 */
import type { Static, TSchema } from 'typebox';
import type { Kind } from './kind.ts';
import type { Condition, ObjectMeta } from './object.ts';

/** What the runtime keeps in every status, beside what the resource defines. */
export type BaseStatus = {
  observedGeneration?: number;
  conditions?: Condition[];
};

/** An instance of a resource: the type that an operator's `reconcile` sees as `self`. */
export type CustomObject<Spec, Status> = {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: Spec;
  status?: Status & BaseStatus;
};

/** A column of `kubectl get`. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  jsonPath: string;
  description?: string;
  format?: string;
  /** 0 is always shown, greater only with `-o wide`. */
  priority?: number;
}

/** A CEL rule at the root of the object (rules on fields stand on their schema). */
export interface Rule {
  rule: string;
  message: string;
  messageExpression?: string;
  reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

export interface ResourceVersion<Spec extends TSchema = TSchema, Status extends TSchema = TSchema> {
  readonly name: string;
  readonly served: boolean;
  /** Exactly one version is the one that is stored, and the one that operators see. */
  readonly storage: boolean;
  readonly spec: Spec;
  readonly status?: Status;
  readonly rules?: readonly Rule[];
  readonly columns?: readonly Column[];
  readonly scale?: { readonly specReplicas: string; readonly statusReplicas: string; readonly selector?: string };
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  /** From this version to the stored one and back; needed on every version but the stored one, unless their shapes are the same. */
  readonly convert?: {
    readonly toStorage: (object: { spec: unknown; status?: unknown }) => { spec: unknown; status?: unknown };
    readonly fromStorage: (object: { spec: unknown; status?: unknown }) => { spec: unknown; status?: unknown };
  };
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

export type SpecOf<S extends TSchema> = Static<S>;
