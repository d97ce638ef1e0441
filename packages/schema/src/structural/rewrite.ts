/**
 * The rewriting pass: TypeBox in, structural schema out. One recursive walk, no state.
 *
 * Invariant: it is faithful or it fails. Where JSON Schema and the API server say the same thing in different words (const and
 * enum, null and nullable, numeric exclusive bounds, records and additionalProperties) it translates; whatever a CRD cannot
 * say is refused with the path of the field and a remedy. A keyword that is not known here is refused too, since the API server
 * would drop it in silence. `defineResource` calls it once a version.
 */
import { rewriteIntersect } from './intersect.ts';
import { rewriteJudgements } from './judgements.ts';
import { rewriteArray } from './lists.ts';
import { checkRules } from './rules.ts';
import { rewriteIntOrString, rewriteScalar } from './scalars.ts';
import { carry, childPath, fail, type Node, type Place, type Rule, type StructuralSchema } from './schema.ts';
import { rewriteUnion } from './union.ts';

/** What only describes: allowed everywhere, never judged. */
const notes = new Set([
  'title',
  'description',
  'default',
  'example',
  'examples',
  'nullable',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$id',
  '$schema',
  'x-kubernetes-validations',
]);

const keywords: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format', 'enum', 'const'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'format', 'enum', 'const'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'format', 'enum', 'const'],
  boolean: ['enum', 'const'],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems', 'x-kubernetes-list-type', 'x-kubernetes-list-map-keys'],
  object: [
    'properties',
    'required',
    'additionalProperties',
    'patternProperties',
    'minProperties',
    'maxProperties',
    'x-kubernetes-map-type',
    'x-kubernetes-preserve-unknown-fields',
    'x-kubernetes-embedded-resource',
    'allOf',
    'anyOf',
    'oneOf',
    'not',
  ],
  intOrString: ['x-kubernetes-int-or-string', 'anyOf', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern'],
  anything: ['x-kubernetes-preserve-unknown-fields'],
};

const remedies: Readonly<Record<string, string>> = {
  $ref: 'A CRD has no references and no recursion: write the schema out, or stop the recursion with freeForm()',
  $defs: 'A CRD has no references and no recursion: write the schema out, or stop the recursion with freeForm()',
  prefixItems: 'A CRD has no tuples: use an object with named fields',
  additionalItems: 'A CRD has no tuples: use an object with named fields',
  contains: 'Write it as a rule: withRules(list, [{ rule: "self.exists(x, …)", … }])',
  if: 'Write it as a rule: withRules(object, [{ rule: "!(…) || …", … }])',
  dependentRequired: 'Write it as a rule: withRules(object, [{ rule: "!has(self.a) || has(self.b)", … }])',
  propertyNames: 'Write it as a rule: withRules(record, [{ rule: "self.all(key, key.matches(…))", … }])',
};

/** The structural schema of a TypeBox schema. */
export function rewrite(schema: unknown, place: Place): StructuralSchema {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    fail(
      place,
      `a schema is expected, not ${JSON.stringify(schema) ?? String(schema)}`,
      'Build it with Type.* of typebox',
    );
  }
  const node = schema as Node;
  for (const [mark, what] of [
    ['~refine', 'Type.Refine'],
    ['~codec', 'Type.Codec'],
  ] as const) {
    if (mark in node)
      fail(
        place,
        `${what} is a function, which a CRD cannot run`,
        'Write a rule with withRules, or check it in the operator',
      );
  }
  const result = rewriteShape(node, place);
  const rules = rulesOf(node, place);
  if (rules !== undefined) checkRules(result, rules, place);
  return freeze({
    ...result,
    ...annotations(node, place),
    ...(rules === undefined ? {} : { 'x-kubernetes-validations': rules }),
  });
}

function rewriteShape(node: Node, place: Place): StructuralSchema {
  if (node.$ref !== undefined || node.$defs !== undefined)
    fail(place, 'a $ref cannot be expressed in a CRD', remedies.$ref ?? '');
  if (node['x-kubernetes-int-or-string'] === true) {
    allowOnly(node, keywords.intOrString ?? [], place);
    return rewriteIntOrString(node, place);
  }
  const type = typeOf(node, place);
  if (type === undefined) {
    if (node.anyOf !== undefined) return rewriteUnion(node, place, rewrite);
    if (node.allOf !== undefined) return rewriteIntersect(node, place, rewrite);
    allowOnly(node, keywords.anything ?? [], place);
    return { 'x-kubernetes-preserve-unknown-fields': true };
  }
  const known = keywords[type];
  if (known === undefined) fail(place, `the type '${type}' cannot be expressed in a CRD`, remedyForType(type));
  // Said before the keywords are looked at, of which a tuple has several that are unknown here.
  if (type === 'array' && (node.items === undefined || Array.isArray(node.items))) {
    fail(place, 'a tuple cannot be expressed in a CRD', remedies.prefixItems ?? '');
  }
  allowOnly(node, known, place);
  if (type === 'object') return rewriteObject(node, place);
  if (type === 'array') return rewriteArray(node, place, rewrite);
  return rewriteScalar(node, type, place);
}

/** The declared type, or the one that all enum values share. */
function typeOf(node: Node, place: Place): string | undefined {
  if (Array.isArray(node.type))
    fail(
      place,
      `several types at once (${node.type.join(', ')}) cannot be expressed in a CRD`,
      'Use intOrString(), or Type.Union with Type.Null for a nullable value',
    );
  if (typeof node.type === 'string') return node.type;
  const values = Array.isArray(node.enum) ? node.enum : 'const' in node ? [node.const] : [];
  if (values.length === 0) return undefined;
  const types = new Set(
    values.map((value) =>
      typeof value === 'number' ? (values.every(Number.isInteger) ? 'integer' : 'number') : typeof value,
    ),
  );
  if (types.size > 1)
    fail(
      place,
      `an enum of several types (${[...types].join(', ')}) cannot be expressed in a CRD`,
      'Give all values one type',
    );
  return [...types][0];
}

function rewriteObject(node: Node, place: Place): StructuralSchema {
  const preserve = node['x-kubernetes-preserve-unknown-fields'] === true || node.additionalProperties === true;
  const embedded = node['x-kubernetes-embedded-resource'] === true;
  const properties = node.properties as Readonly<Record<string, unknown>> | undefined;
  const correlatable = place.correlatable && node['x-kubernetes-map-type'] !== 'atomic';
  const value = recordValue(node, place);
  if (value !== undefined && properties !== undefined && Object.keys(properties).length > 0) {
    fail(place, 'named fields beside a record cannot be expressed in a CRD', 'Put the record into a field of its own');
  }
  const fields: Record<string, StructuralSchema> = {};
  for (const [name, field] of Object.entries(properties ?? {})) {
    fields[name] = rewrite(field, { ...place, path: childPath(place.path, name), correlatable });
  }
  // The server defaults before it validates, so a field with a default is never missing; saying `required` all the same would make
  // clients refuse objects that the server takes, and `default: {}` on a parent would not validate.
  const required = ((node.required ?? []) as readonly string[]).filter((name) => fields[name]?.default === undefined);
  return {
    type: 'object',
    ...(Object.keys(fields).length > 0 ? { properties: fields } : {}),
    ...(required.length > 0 ? { required } : {}),
    ...(value === undefined
      ? {}
      : { additionalProperties: rewrite(value, { ...place, path: `${place.path}.*`, correlatable }) }),
    ...carry(node, ['minProperties', 'maxProperties', 'x-kubernetes-map-type']),
    ...(preserve ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
    ...(embedded ? { 'x-kubernetes-embedded-resource': true } : {}),
    ...rewriteJudgements(node, place),
  };
}

/** The schema of a record's values, if the node is a record. */
function recordValue(node: Node, place: Place): unknown {
  const patterns = Object.entries((node.patternProperties ?? {}) as Readonly<Record<string, unknown>>);
  const [first] = patterns;
  if (first !== undefined) {
    if (patterns.length > 1 || first[0] !== '^.*$') {
      fail(
        place,
        `a record with a pattern for its keys (${patterns.map(([key]) => key).join(', ')}) cannot be expressed in a CRD`,
        remedies.propertyNames ?? '',
      );
    }
    return first[1];
  }
  return typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined;
}

function annotations(node: Node, place: Place): StructuralSchema {
  if (node.default === null) fail(place, 'a default of null has no effect', 'Leave it out, or make the field optional');
  const example = node.example ?? (Array.isArray(node.examples) ? node.examples[0] : undefined);
  return {
    ...carry(node, ['title', 'description']),
    ...(node.nullable === true ? { nullable: true } : {}),
    ...(node.default === undefined ? {} : { default: structuredClone(node.default) }),
    ...(example === undefined ? {} : { example: structuredClone(example) }),
  };
}

function rulesOf(node: Node, place: Place): readonly Rule[] | undefined {
  const rules = node['x-kubernetes-validations'] as readonly Rule[] | undefined;
  if (rules === undefined || rules.length === 0) return undefined;
  const twice = rules.find((rule, index) => rules.findIndex((other) => other.rule === rule.rule) !== index);
  if (twice !== undefined) fail(place, `the rule '${twice.rule}' is there twice`, 'Remove one');
  return structuredClone(rules);
}

function allowOnly(node: Node, known: readonly string[], place: Place): void {
  for (const keyword of Object.keys(node)) {
    if (keyword === 'type' || notes.has(keyword) || known.includes(keyword)) continue;
    fail(
      place,
      `'${keyword}' cannot be expressed in a CRD`,
      remedies[keyword] ?? 'Leave it out, or write a rule with withRules',
    );
  }
}

function remedyForType(type: string): string {
  if (type === 'null') return 'Use Type.Union([schema, Type.Null()]) for a value that may be null';
  if (type === 'bigint') return "Use Type.Integer({ format: 'int64' })";
  return 'Use plain JSON: objects, arrays, strings, numbers, booleans';
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}
