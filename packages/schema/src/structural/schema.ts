/**
 * The structural schema: the part of OpenAPI that a CustomResourceDefinition accepts, as plain data.
 *
 * Invariant: a value of this type is what the API server sees, letter for letter. `rewrite` is the only code that makes one
 * (out of TypeBox); toCrd, the offline validation and the reference docs only read it, so that all three agree by construction.
 */
export interface StructuralSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  /** Value validations: they judge, but add no field, type or default. */
  readonly allOf?: readonly StructuralSchema[];
  readonly anyOf?: readonly StructuralSchema[];
  readonly oneOf?: readonly StructuralSchema[];
  readonly not?: StructuralSchema;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'map' | 'set' | 'atomic';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'granular' | 'atomic';
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

/** A CEL rule. On a field it stands on the field's schema (`withRules`), for the whole object on the version. */
export interface Rule {
  /** `self` is the value the rule stands on, `oldSelf` its value before an update. */
  readonly rule: string;
  /** What the user reads when the rule is broken. */
  readonly message: string;
  readonly messageExpression?: string;
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
  /** The field that is to blame, relative to `self`: `.backends.endpoints`. */
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** A TypeBox schema, seen as the JSON Schema that it is. */
export type Node = Readonly<Record<string, unknown>>;

/** One step of the rewriting pass, for the files that it is divided into. */
export type Rewrite = (schema: unknown, place: Place) => StructuralSchema;

/** Where the rewriting pass stands. */
export interface Place {
  /** What is being defined: `Website v1alpha1`. */
  readonly subject: string;
  /** `spec.features[].name`. */
  readonly path: string;
  /** False below a list or map whose entries the server cannot match with their old selves: no `oldSelf` there. */
  readonly correlatable: boolean;
}

/** The one way in which a definition fails: names the thing, the place, and what to do instead. */
export function fail(place: Pick<Place, 'subject' | 'path'>, problem: string, remedy: string): never {
  throw new TypeError(`${place.subject}: ${place.path === '' ? '' : `${place.path}: `}${problem}. ${remedy}.`);
}

/** The keywords that mean the same on both sides, as they are. */
export function carry(node: Node, names: readonly string[]): StructuralSchema {
  return Object.fromEntries(
    names.filter((name) => node[name] !== undefined).map((name) => [name, structuredClone(node[name])]),
  );
}

/** The path of a field below another. */
export function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
