/** Value validations: they look at a value that already has its shape, and only note what is wrong. */
import { exactlyOneNames } from '../structural/exactly-one.ts';
import { compilePattern } from '../structural/pattern.ts';
import type { StructuralSchema } from '../structural/schema.ts';
import { formats } from './formats.ts';
import { isPlainObject } from './plain.ts';
import { createReport, note, type Problem, type Report, show } from './report.ts';
import { describePattern } from './words.ts';

export type Judge = (value: unknown, report: Report) => void;

/** Compiles every value validation that stands on a schema, in one function. */
export function compileJudge(schema: StructuralSchema): Judge {
  const judges: Judge[] = [];
  addCommon(schema, judges);
  addNumber(schema, judges);
  addString(schema, judges);
  addSizes(schema, judges);
  addObject(schema, judges);
  addLogic(schema, judges);
  const [only] = judges;
  if (only === undefined) return () => undefined;
  if (judges.length === 1) return only;
  return (value, report) => {
    for (const judge of judges) judge(value, report);
  };
}

function addCommon(schema: StructuralSchema, judges: Judge[]): void {
  const values = schema.enum;
  if (values === undefined) return;
  const allowed = new Set(values);
  const names = values.map((value) => (typeof value === 'string' ? value : String(value)));
  const expected = names.length === 1 ? `must be ${names[0]}` : `must be one of ${names.join(', ')}`;
  judges.push((value, report) => {
    if (!allowed.has(value)) note(report, `${expected}; got ${show(value)}`);
  });
}

function addNumber(schema: StructuralSchema, judges: Judge[]): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (minimum !== undefined) {
    judges.push((value, report) => {
      if (typeof value !== 'number') return;
      if (exclusiveMinimum === true ? value <= minimum : value < minimum)
        note(report, `must be ${exclusiveMinimum === true ? 'more than' : 'at least'} ${minimum}, got ${value}`);
    });
  }
  if (maximum !== undefined) {
    judges.push((value, report) => {
      if (typeof value !== 'number') return;
      if (exclusiveMaximum === true ? value >= maximum : value > maximum)
        note(report, `must be ${exclusiveMaximum === true ? 'less than' : 'at most'} ${maximum}, got ${value}`);
    });
  }
  if (multipleOf !== undefined) {
    judges.push((value, report) => {
      if (
        typeof value === 'number' &&
        !Number.isInteger(multipleOf < 1 ? (1 / multipleOf) * value : value / multipleOf)
      )
        note(report, `must be a multiple of ${multipleOf}, got ${value}`);
    });
  }
}

function addString(schema: StructuralSchema, judges: Judge[]): void {
  const { minLength, maxLength, pattern, format } = schema;
  if (minLength !== undefined || maxLength !== undefined) {
    const [least, most] = [minLength ?? 0, maxLength ?? Number.POSITIVE_INFINITY];
    judges.push((value, report) => {
      if (typeof value !== 'string') return;
      const length = codePoints(value);
      if (length < least)
        note(report, value === '' ? 'must not be empty' : `must have at least ${least} characters, got ${show(value)}`);
      if (length > most) note(report, `must have at most ${most} characters, got ${length}`);
    });
  }
  if (pattern !== undefined) {
    const expression = compilePattern(pattern, { subject: 'schema', path: '' });
    const expected = describePattern(pattern) ?? `must match ${pattern}`;
    judges.push((value, report) => {
      if (typeof value === 'string' && !expression.test(value)) note(report, `${expected}, got ${show(value)}`);
    });
  }
  const known = format === undefined ? undefined : formats[format];
  if (known !== undefined) {
    judges.push((value, report) => {
      if (typeof value === 'string' && !known.test(value))
        note(report, `must be ${known.expected}, got ${show(value)}`);
    });
  }
}

/** The server counts code points; the length of a JavaScript string counts UTF-16 units. */
function codePoints(value: string): number {
  let count = value.length;
  for (let index = 0; index < value.length - 1; index += 1) {
    if ((value.charCodeAt(index) & 0xfc00) === 0xd800 && (value.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      count -= 1;
      index += 1;
    }
  }
  return count;
}

function addSizes(schema: StructuralSchema, judges: Judge[]): void {
  const { minItems, maxItems, minProperties, maxProperties } = schema;
  const check = (
    size: number,
    least: number | undefined,
    most: number | undefined,
    word: string,
    report: Report,
  ): void => {
    if (least !== undefined && size < least) note(report, `must have at least ${least} ${word}, got ${size}`);
    if (most !== undefined && size > most) note(report, `must have at most ${most} ${word}, got ${size}`);
  };
  if (minItems !== undefined || maxItems !== undefined) {
    judges.push((value, report) => {
      if (Array.isArray(value)) check(value.length, minItems, maxItems, 'items', report);
    });
  }
  if (minProperties !== undefined || maxProperties !== undefined) {
    judges.push((value, report) => {
      if (isPlainObject(value)) check(Object.keys(value).length, minProperties, maxProperties, 'fields', report);
    });
  }
}

function addObject(schema: StructuralSchema, judges: Judge[]): void {
  const { required } = schema;
  if (required !== undefined) {
    judges.push((value, report) => {
      if (!isPlainObject(value)) return;
      for (const name of required) if (!Object.hasOwn(value, name)) note(report, 'is required', name);
    });
  }
  for (const names of exactlyOneNames(schema)) {
    judges.push((value, report) => {
      const count = isPlainObject(value) ? names.filter((name) => Object.hasOwn(value, name)).length : 1;
      if (count !== 1)
        note(report, `must have exactly one of ${names.join(', ')}, got ${count === 0 ? 'none' : count}`);
    });
  }
  // Under a type the fields are visited by the shape; here only the branches of allOf, anyOf, oneOf and not speak of fields.
  if (schema.type !== undefined) return;
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const judge = compileJudge(field);
    judges.push((value, report) => {
      if (!isPlainObject(value) || !Object.hasOwn(value, name)) return;
      report.path.push(name);
      judge(value[name], report);
      report.path.pop();
    });
  }
}

function addLogic(schema: StructuralSchema, judges: Judge[]): void {
  const compileAll = (branches: readonly StructuralSchema[] | undefined): Judge[] =>
    (branches ?? []).map((branch) => compileJudge(branch));
  judges.push(...compileAll(schema.allOf));
  // The anyOf of an integer-or-string only repeats the type.
  const anyOf = schema['x-kubernetes-int-or-string'] === true ? [] : compileAll(schema.anyOf);
  if (anyOf.length > 0) {
    judges.push((value, report) => {
      const outcomes = anyOf.map((judge) => outcome(judge, value, report));
      if (outcomes.some((problems) => problems.length === 0)) return;
      report.problems.push(...nearest(outcomes, schema.anyOf ?? [], value));
    });
  }
  const oneOf = compileAll(schema.oneOf);
  if (oneOf.length > 0) {
    judges.push((value, report) => {
      const outcomes = oneOf.map((judge) => outcome(judge, value, report));
      const met = outcomes.filter((problems) => problems.length === 0).length;
      if (met !== 1) note(report, describeOneOf(schema.oneOf ?? [], met));
    });
  }
  if (schema.not !== undefined) {
    const judge = compileJudge(schema.not);
    const expected = describeNot(schema.not);
    judges.push((value, report) => {
      if (outcome(judge, value, report).length === 0) note(report, expected);
    });
  }
}

function outcome(judge: Judge, value: unknown, report: Report): readonly Problem[] {
  const trial = createReport(report.path);
  judge(value, trial);
  return trial.problems;
}

/** The branch that the value means: the one whose literal fields it has, or else the one it comes closest to. */
function nearest(
  outcomes: readonly (readonly Problem[])[],
  branches: readonly StructuralSchema[],
  value: unknown,
): readonly Problem[] {
  const meant = branches.findIndex((branch) =>
    Object.entries(branch.properties ?? {}).some(
      ([name, field]) =>
        field.enum !== undefined &&
        isPlainObject(value) &&
        Object.hasOwn(value, name) &&
        field.enum.includes(value[name]),
    ),
  );
  const fewest = outcomes.reduce(
    (best, problems) => (problems.length < best.length ? problems : best),
    outcomes[0] ?? [],
  );
  return outcomes[meant] ?? fewest;
}

function describeOneOf(branches: readonly StructuralSchema[], met: number): string {
  const fields = branches.map((branch) => branch.required?.join(' and '));
  const names = fields.every((name) => name !== undefined)
    ? `exactly one of ${fields.join(', ')}`
    : 'exactly one of its alternatives';
  return `must have ${names}, got ${met === 0 ? 'none' : met}`;
}

function describeNot(schema: StructuralSchema): string {
  return schema.required === undefined
    ? 'must not be as it is (see the schema)'
    : `must not have ${schema.required.join(' and ')}`;
}
