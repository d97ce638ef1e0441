/**
 * The fields of a resource as `explain` shows them, read from the CRD that the API server gets: what is explained is what is
 * enforced. Pure.
 */

/** The part of an OpenAPI v3 schema that CRDs use. */
export interface OpenApi {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, OpenApi>>;
  readonly items?: OpenApi;
  readonly additionalProperties?: OpenApi | boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message?: string }[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly [limit: string]: unknown;
}

export interface Field {
  /** `spec.pages`, `spec.hosts[].name`. */
  readonly path: string;
  /** `string`, `[]object`, `map[string]string`. */
  readonly type: string;
  readonly required: boolean;
  readonly default?: unknown;
  readonly description?: string;
  /** `1 … 20`, `one of A, B`, `matches ^a+$`. */
  readonly limits: readonly string[];
  /** What the CEL rules on it say. */
  readonly rules: readonly string[];
}

/** Every field below a schema, in order, depth first; lists and maps are walked through. */
export function fieldsOf(schema: OpenApi, at: string, required = false): Field[] {
  const own = at === '' ? [] : [field(schema, at, required)];
  return [
    ...own,
    ...childrenOf(schema).flatMap((child) => fieldsOf(child.schema, join(at, child.name), child.required)),
  ];
}

/** The schema at a dotted path, or what stands at the last part that exists. */
export function schemaAt(
  root: OpenApi,
  path: readonly string[],
): { found: OpenApi; path: string } | { missing: string; under: string; known: string[] } {
  let schema = root;
  let at = '';
  for (const part of path) {
    const children = childrenOf(schema);
    const child = children.find(({ name }) => name === part || name.replace(/^\[\]\.|^\*\./, '') === part);
    if (child === undefined)
      return { missing: part, under: at, known: children.map(({ name }) => name.replace(/^(\[\]|\*)\./, '')) };
    schema = child.schema;
    at = join(at, child.name);
  }
  return { found: schema, path: at };
}

function childrenOf(schema: OpenApi): { name: string; schema: OpenApi; required: boolean }[] {
  if (schema.properties !== undefined) {
    return Object.entries(schema.properties).map(([name, child]) => ({
      name,
      schema: child,
      required: schema.required?.includes(name) === true && child.default === undefined,
    }));
  }
  // The items of a list have no name of their own: their fields stand directly below it.
  const within =
    schema.items ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
  if (within === undefined) return [];
  const mark = schema.items === undefined ? '*' : '[]';
  return childrenOf(within).map((child) => ({ ...child, name: `${mark}.${child.name}` }));
}

function join(at: string, name: string): string {
  if (at === '') return name;
  return name.startsWith('[]') ? `${at}${name}` : `${at}.${name}`;
}

function field(schema: OpenApi, path: string, required: boolean): Field {
  return {
    path,
    type: typeOf(schema),
    required,
    ...(schema.default === undefined ? {} : { default: schema.default }),
    ...(schema.description === undefined ? {} : { description: schema.description }),
    limits: limitsOf(schema),
    rules: (schema['x-kubernetes-validations'] ?? []).map(({ rule, message }) => message ?? rule),
  };
}

function typeOf(schema: OpenApi): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'integer or string';
  if (schema.items !== undefined) return `[]${typeOf(schema.items)}`;
  if (typeof schema.additionalProperties === 'object') return `map[string]${typeOf(schema.additionalProperties)}`;
  if (schema.type === undefined) return 'any';
  return schema.format === undefined ? schema.type : `${schema.type} (${schema.format})`;
}

function limitsOf(schema: OpenApi): string[] {
  const limits: string[] = [];
  const range = (low: unknown, high: unknown, unit: string): void => {
    if (low !== undefined && high !== undefined) limits.push(`${String(low)} … ${String(high)}${unit}`);
    else if (low !== undefined) limits.push(`at least ${String(low)}${unit}`);
    else if (high !== undefined) limits.push(`at most ${String(high)}${unit}`);
  };
  // Every int32 has these bounds: they say nothing about the field.
  if (schema.minimum !== -(2 ** 31)) range(schema.minimum, schema.maximum, '');
  range(schema.minLength, schema.maxLength, ' characters');
  range(schema.minItems, schema.maxItems, ' items');
  range(schema.minProperties, schema.maxProperties, ' entries');
  if (schema.enum !== undefined) limits.push(`one of ${schema.enum.map(String).join(', ')}`);
  if (typeof schema.pattern === 'string') limits.push(`matches ${schema.pattern}`);
  return limits;
}
