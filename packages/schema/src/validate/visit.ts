/**
 * Offline validation: a structural schema compiled to a function that does to a value what the API server does to it:
 * drop unknown fields, drop nulls where null is not allowed, fill in defaults, then judge.
 *
 * Invariant: the given value is never changed, the result is a deeply frozen copy, and no value makes it throw. Differences to the
 * server are only these: CEL rules are not evaluated (but for `exactlyOneOf`), and a list in the place of a string with a format is refused (the server
 * lets it pass). The real server is asked in server.test.ts.
 */
import type { StructuralSchema } from '../structural/schema.ts';
import { compileJudge, type Judge } from './judge.ts';
import { checkMetadataKeys, metadataSchema } from './metadata.ts';
import { copyPlain, isPlainObject, put } from './plain.ts';
import { createReport, note, type Report, show } from './report.ts';

/** Gives the value as the server would keep it, and notes in the report what it would refuse. */
export type Visit = (value: unknown, report: Report) => unknown;

const words: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

/** Compiles a schema. Costs about as much as one validation; keep the result. */
export function compileVisit(schema: StructuralSchema): Visit {
  const judge = compileJudge(schema);
  const visit = compileShape(schema, judge);
  if (schema.nullable === true) return (value, report) => (value === null ? null : visit(value, report));
  return visit;
}

function compileShape(schema: StructuralSchema, judge: Judge): Visit {
  if (schema['x-kubernetes-int-or-string'] === true)
    return compileScalar('a whole number or a string', (value) => typeof value === 'string' || isInt64(value), judge);
  switch (schema.type) {
    case 'object':
      return compileObject(schema, judge);
    case 'array':
      return compileArray(schema, judge);
    case 'string':
      return compileScalar('a string', (value) => typeof value === 'string', judge);
    case 'integer':
      return compileScalar('a whole number', isInt64, judge);
    case 'number':
      return compileScalar('a number', (value) => typeof value === 'number' && Number.isFinite(value), judge);
    case 'boolean':
      return compileScalar('true or false', (value) => typeof value === 'boolean', judge);
    default:
      return (value, report) => {
        const copy = copyPlain(value, report);
        judge(copy, report);
        return copy;
      };
  }
}

/** Whole, and within the 64 bits that the server holds integers in (the double -2^63 is written as a lesser number). */
function isInt64(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}

function compileScalar(expected: string, isRight: (value: unknown) => boolean, judge: Judge): Visit {
  return (value, report) => {
    if (!isRight(value)) {
      note(report, `must be ${expected}, got ${show(value)}`);
      return null;
    }
    judge(value, report);
    return value === 0 ? 0 : value;
  };
}

interface Field {
  readonly name: string;
  readonly visit: Visit;
  readonly nullable: boolean;
  readonly fallback: unknown;
}

function compileField(name: string, schema: StructuralSchema): Field {
  const visit = compileVisit(schema);
  // Defaults are visited once, here: what they hold gets its own defaults, and the frozen result is shared by all objects.
  const fallback = schema.default === undefined ? undefined : visit(schema.default, createReport());
  return { name, visit, nullable: schema.nullable === true, fallback };
}

/** The field's value as the server keeps it; undefined when there is none. */
function visitField(field: Field, raw: unknown, name: string, report: Report): unknown {
  if (raw === undefined || (raw === null && !field.nullable)) return field.fallback;
  report.path.push(name);
  const value = field.visit(raw, report);
  report.path.pop();
  return value;
}

function compileObject(schema: StructuralSchema, judge: Judge): Visit {
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const properties = embedded ? { ...schema.properties, ...embeddedFields } : (schema.properties ?? {});
  const fields = Object.entries(properties).map(([name, field]) => compileField(name, field));
  const known = new Set(fields.map((field) => field.name));
  const other = schema.additionalProperties === undefined ? undefined : compileField('*', schema.additionalProperties);
  const preserve = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const judgeEmbedded = embedded ? compileJudge({ required: ['apiVersion', 'kind'] }) : undefined;
  return (value, report) => {
    if (!isPlainObject(value)) {
      note(report, `must be ${words.object}, got ${show(value)}`);
      return null;
    }
    const result: Record<string, unknown> = {};
    for (const field of fields) {
      const kept = visitField(
        field,
        Object.hasOwn(value, field.name) ? value[field.name] : undefined,
        field.name,
        report,
      );
      if (kept !== undefined) put(result, field.name, kept);
    }
    if (other !== undefined || preserve) {
      for (const name of Object.keys(value)) {
        if (known.has(name)) continue;
        const kept =
          other === undefined ? copyUnknown(value[name], name, report) : visitField(other, value[name], name, report);
        if (kept !== undefined) put(result, name, kept);
      }
    }
    judge(result, report);
    if (judgeEmbedded !== undefined) {
      judgeEmbedded(result, report);
      checkMetadataKeys(result.metadata, report);
    }
    return Object.freeze(result);
  };
}

const embeddedFields: Readonly<Record<string, StructuralSchema>> = {
  apiVersion: { type: 'string', minLength: 1 },
  kind: { type: 'string', minLength: 1, pattern: '^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$' },
  metadata: { ...metadataSchema, required: [] },
};

function copyUnknown(value: unknown, name: string, report: Report): unknown {
  if (value === undefined) return undefined;
  report.path.push(name);
  const copy = copyPlain(value, report);
  report.path.pop();
  return copy;
}

function compileArray(schema: StructuralSchema, judge: Judge): Visit {
  const item = compileField('[]', schema.items ?? {});
  const judgeUnique = compileUnique(schema);
  return (value, report) => {
    if (!Array.isArray(value)) {
      note(report, `must be ${words.array}, got ${show(value)}`);
      return null;
    }
    const result: unknown[] = [];
    for (let index = 0; index < value.length; index += 1) {
      const raw: unknown = value[index] ?? null;
      report.path.push(index);
      result.push(
        raw === null && item.fallback !== undefined && !item.nullable ? item.fallback : item.visit(raw, report),
      );
      report.path.pop();
    }
    judge(result, report);
    judgeUnique(result, report);
    return Object.freeze(result);
  };
}

/** Sets hold each item once, maps each key once. */
function compileUnique(schema: StructuralSchema): (items: readonly unknown[], report: Report) => void {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return () => undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const identify = (item: unknown): unknown =>
    type === 'set' || !isPlainObject(item)
      ? item
      : keys.length === 1
        ? item[keys[0] ?? '']
        : keys.map((key) => item[key] ?? null);
  return (items, report) => {
    if (items.length < 2) return;
    const seen = new Set<unknown>();
    for (const [index, item] of items.entries()) {
      const identity = identify(item);
      const key = typeof identity === 'object' && identity !== null ? canonical(identity) : identity;
      if (seen.has(key)) {
        const what =
          type === 'set'
            ? `${show(item)} is there already`
            : `an item with ${keys.map((name) => `${name} ${show(isPlainObject(item) ? item[name] : undefined)}`).join(', ')} is there already`;
        note(report, what, index);
      }
      seen.add(key);
    }
  };
}

/** Equal for equal data, whatever the order of fields. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) =>
      isPlainObject(part)
        ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
        : part,
    ) ?? ''
  );
}
