/**
 * Fields: TypeBox schemas for what Kubernetes has and JSON Schema has no word for. Each is an ordinary TypeBox schema, to be mixed
 * with `Type.*`; the `x-kubernetes-*` keywords that it carries are what the CRD will say.
 */
import Type, {
  type Static,
  type TArray,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  type TUnsafe,
} from 'typebox';
import type { Duration } from './duration.ts';
import type { KubeObject } from './object.ts';
import { exactlyOneRule } from './structural/exactly-one.ts';
import type { Rule } from './structural/schema.ts';
import { durationPattern, labelPattern, quantityPattern, subdomainPattern, urlPattern } from './validate/words.ts';

/** What may be said about any field. */
export interface FieldOptions {
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

export interface ListFieldOptions extends FieldOptions {
  readonly minItems?: number;
  /** Bound every list that a rule walks through: the API server refuses rules whose estimated cost has no bound. */
  readonly maxItems?: number;
}

export interface NumberFieldOptions extends FieldOptions {
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A list whose items are known by these fields: unique by them, and merged by them in server-side apply. */
export function listMap<Item extends TSchema>(
  item: Item,
  keys: readonly [string, ...string[]],
  options: ListFieldOptions = {},
): TArray<Item> {
  return Type.Array(item, { ...options, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [...keys] });
}

/** A list that holds each plain value once. */
export function setOf<Item extends TSchema>(item: Item, options: ListFieldOptions = {}): TArray<Item> {
  return Type.Array(item, { ...options, 'x-kubernetes-list-type': 'set' });
}

/** A list that server-side apply replaces as a whole. */
export function atomicList<Item extends TSchema>(item: Item, options: ListFieldOptions = {}): TArray<Item> {
  return Type.Array(item, { ...options, 'x-kubernetes-list-type': 'atomic' });
}

/** An object that server-side apply replaces as a whole. */
export function atomic<Schema extends TSchema>(schema: Schema): Schema {
  return withKeywords(schema, { 'x-kubernetes-map-type': 'atomic' });
}

/** The schema with CEL rules on it; `self` is the value it describes. */
export function withRules<Schema extends TSchema>(schema: Schema, rules: readonly Rule[]): Schema {
  const before = (Reflect.get(schema, 'x-kubernetes-validations') ?? []) as readonly Rule[];
  return withKeywords(schema, { 'x-kubernetes-validations': [...before, ...rules] });
}

/** A field that cannot change once it is set. */
export function immutable<Schema extends TSchema>(schema: Schema): Schema {
  return withRules(schema, [{ rule: 'self == oldSelf', message: 'cannot be changed' }]);
}

/** A value that may be null, which is kept as such (elsewhere the server treats null as absent). */
export function nullable<Schema extends TSchema>(
  schema: Schema,
  options: FieldOptions = {},
): TUnsafe<Static<Schema> | null> {
  return Type.Unsafe<Static<Schema> | null>(Type.Union([schema, Type.Null()], keywordsOf(options)));
}

/** An object of which exactly one of the named fields is set. */
export function exactlyOneOf<Properties extends TProperties>(
  properties: Properties,
  options: FieldOptions = {},
): TUnsafe<ExactlyOne<{ [Name in keyof Properties]: Static<Properties[Name]> }>> {
  const names = Object.keys(properties);
  const optional = Object.fromEntries(names.map((name) => [name, Type.Optional(properties[name] ?? Type.Unknown())]));
  return Type.Unsafe<ExactlyOne<{ [Name in keyof Properties]: Static<Properties[Name]> }>>(
    Type.Object(optional, { ...options, 'x-kubernetes-validations': [exactlyOneRule(names)] }),
  );
}

/** The type of `exactlyOneOf`: one of these fields and none of the others. Of values, not of schemas: it stands in declarations of others. */
export type ExactlyOne<Values> = {
  [Name in keyof Values]: { [Key in Name]: Values[Key] } & {
    [Key in Exclude<keyof Values, Name>]?: never;
  };
}[keyof Values];

/** An object whose fields are not in the CRD: kept as it is, checked by whoever reads it. */
export function freeForm<T = Record<string, unknown>>(options: FieldOptions = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...options });
}

/** A whole Kubernetes object inside a field: apiVersion and kind are demanded, its metadata is checked, the rest is free. */
export function embeddedObject<T extends KubeObject = KubeObject>(options: FieldOptions = {}): TUnsafe<T> {
  return Type.Unsafe<T>({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
    ...options,
  });
}

/** A whole number or a string, as in ports and percentages. */
export function intOrString(options: FieldOptions & { readonly pattern?: string } = {}): TUnsafe<number | string> {
  return Type.Unsafe<number | string>({ 'x-kubernetes-int-or-string': true, ...options });
}

/** An amount of a resource: `500m`, `2`, `128Mi`. */
export function quantity(options: FieldOptions = {}): TUnsafe<number | string> {
  return intOrString({ pattern: quantityPattern, ...options });
}

/** A whole number of 32 bits. */
export function int32(options: NumberFieldOptions = {}): ReturnType<typeof Type.Integer> {
  return Type.Integer({ format: 'int32', ...options });
}

/** A whole number of 64 bits. */
export function int64(options: NumberFieldOptions = {}): ReturnType<typeof Type.Integer> {
  return Type.Integer({ format: 'int64', ...options });
}

/** A TCP or UDP port. */
export function port(options: FieldOptions = {}): ReturnType<typeof Type.Integer> {
  return int32({ minimum: 1, maximum: 65_535, ...options });
}

/** A length of time as people write it: `30s`, `5m`, `2h`. */
export function duration(
  options: Omit<FieldOptions, 'default'> & { readonly default?: Duration } = {},
): TUnsafe<Duration> {
  return Type.Unsafe<Duration>({ type: 'string', pattern: durationPattern, maxLength: 32, ...options });
}

/** A point in time, RFC 3339. */
export function timestamp(options: FieldOptions = {}): ReturnType<typeof Type.String> {
  return Type.String({ format: 'date-time', ...options });
}

/** A URL with http or https. */
export function url(options: FieldOptions = {}): ReturnType<typeof Type.String> {
  return Type.String({ pattern: urlPattern, maxLength: 2_048, ...options });
}

/** The name of an object of most kinds (DNS subdomain). */
export function objectName(options: FieldOptions = {}): ReturnType<typeof Type.String> {
  return Type.String({ pattern: subdomainPattern, minLength: 1, maxLength: 253, ...options });
}

/** The name of a Namespace or Service (DNS label). */
export function dnsLabel(options: FieldOptions = {}): ReturnType<typeof Type.String> {
  return Type.String({ pattern: labelPattern, minLength: 1, maxLength: 63, ...options });
}

function keywordsOf(options: FieldOptions): TSchemaOptions {
  return { ...options };
}

/** A copy with more keywords. TypeBox keeps its own marks in hidden fields, so spreading would lose them. */
function withKeywords<Schema extends TSchema>(schema: Schema, keywords: Readonly<Record<string, unknown>>): Schema {
  const added = Object.fromEntries(
    Object.entries(keywords).map(([name, value]) => [
      name,
      { value, enumerable: true, configurable: true, writable: true },
    ]),
  );
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(schema), ...added }) as Schema;
}
