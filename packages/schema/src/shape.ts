/**
 * Shapes: validation and defaulting of a value that stands in no CRD of its own, such as the free-form part of a spec that one
 * feature of an operator knows. The machinery is that of resources, so a config means the same inside of a CRD and outside of one.
 *
 * Invariant: nothing a shape demands is left unchecked. There is no API server behind it, so a CEL rule is refused when the
 * shape is defined, and an unknown field, which a server would drop, is a problem.
 */
import type { Static, TSchema } from 'typebox';
import { checkDefaults } from './structural/defaults.ts';
import { exactlyOneNames } from './structural/exactly-one.ts';
import { rewrite } from './structural/rewrite.ts';
import { childPath, fail, type StructuralSchema } from './structural/schema.ts';
import { unknownFields } from './unknown-fields.ts';
import { createReport, type Problem } from './validate/report.ts';
import { compileVisit, type Visit } from './validate/visit.ts';

export type ShapeResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** What a free-standing object may hold; made by `defineShape`. */
export interface Shape<T = unknown> {
  readonly schema: StructuralSchema;
  /**
   * The value with its defaults, deeply frozen, or everything that is wrong with it, unknown fields included. Nothing (undefined or
   * null) counts as `{}`. `path` is where the value stands, and the paths of problems begin with it. Pure, and never throws.
   */
  parse(value: unknown, path?: string): ShapeResult<T>;
}

/** Defines a shape; throws a TypeError that names the subject, the field and the remedy when it cannot be checked. */
export function defineShape<Schema extends TSchema>(schema: Schema, subject: string): Shape<Static<Schema>> {
  const place = { subject, path: '', correlatable: false };
  const structural = rewrite(schema, place);
  if (structural.type !== 'object') fail(place, 'a shape must be an object', 'Use Type.Object');
  checkDefaults(structural, place);
  refuseRules(structural, subject, '');
  let visit: Visit | undefined;
  return Object.freeze({
    schema: structural,
    parse(value: unknown, path = ''): ShapeResult<Static<Schema>> {
      visit ??= compileVisit(structural);
      const given = value ?? structural.default ?? {};
      const report = createReport();
      const parsed = visit(given, report);
      const problems = [...report.problems, ...unknownFields(given, parsed)];
      if (problems.length === 0) return { ok: true, value: parsed as Static<Schema> };
      return { ok: false, problems: problems.map((problem) => ({ ...problem, path: below(path, problem.path) })) };
    },
  });
}

function below(parent: string, path: string): string {
  return parent === '' || path === '' || path.startsWith('[') ? `${parent}${path}` : `${parent}.${path}`;
}

function refuseRules(schema: StructuralSchema, subject: string, path: string): void {
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (exactlyOneNames(schema).length < rules.length)
    fail({ subject, path }, 'only an API server evaluates rules', 'Say it in the schema, or check it in the operator');
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    refuseRules(field, subject, childPath(path, name));
  if (schema.items !== undefined) refuseRules(schema.items, subject, `${path}[]`);
  if (schema.additionalProperties !== undefined) refuseRules(schema.additionalProperties, subject, `${path}.*`);
}
