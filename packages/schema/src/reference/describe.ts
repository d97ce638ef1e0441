/** Schemas in words: the type of a field, and what its values must keep to. */
import { exactlyOneNames } from '../structural/exactly-one.ts';
import type { StructuralSchema } from '../structural/schema.ts';
import { describePattern } from '../validate/words.ts';

/** `string`, `integer`, `list of string`, `map of string`, `small | large`. */
export function describeType(schema: StructuralSchema): string {
  const or = schema.nullable === true ? ' or null' : '';
  if (schema['x-kubernetes-int-or-string'] === true) return `integer or string${or}`;
  if (schema['x-kubernetes-embedded-resource'] === true) return `Kubernetes object${or}`;
  if (schema.items !== undefined) return `list of ${describeType(schema.items)}${or}`;
  if (schema.additionalProperties !== undefined) return `map of ${describeType(schema.additionalProperties)}${or}`;
  if (schema.properties === undefined && schema['x-kubernetes-preserve-unknown-fields'] === true)
    return schema.type === 'object' ? `free-form object${or}` : 'any';
  const format = schema.format === undefined ? '' : ` (${schema.format})`;
  return `${schema.type ?? 'any'}${format}${or}`;
}

/** One short fact a constraint. */
export function describeConstraints(schema: StructuralSchema): string[] {
  const values = schema.enum ?? schema.allOf?.find((branch) => branch.enum !== undefined)?.enum;
  return [
    values === undefined ? '' : `One of ${values.map((value) => `\`${String(value)}\``).join(', ')}`,
    range(schema),
    sizes(schema.minLength, schema.maxLength, 'character'),
    sizes(schema.minItems, schema.maxItems, 'item'),
    sizes(schema.minProperties, schema.maxProperties, 'entry', 'entries'),
    schema.multipleOf === undefined ? '' : `A multiple of ${schema.multipleOf}`,
    pattern(schema.pattern),
    listType(schema),
    alternatives(schema),
  ].filter((fact) => fact !== '');
}

function range(schema: StructuralSchema): string {
  const { minimum, maximum } = schema;
  const wide = schema.format === 'int32' && minimum === -(2 ** 31) && maximum === 2 ** 31 - 1;
  if (wide || (minimum === undefined && maximum === undefined)) return '';
  const low =
    minimum === undefined ? '' : schema.exclusiveMinimum === true ? `more than ${minimum}` : `at least ${minimum}`;
  const high =
    maximum === undefined || maximum === 2 ** 31 - 1
      ? ''
      : schema.exclusiveMaximum === true
        ? `less than ${maximum}`
        : `at most ${maximum}`;
  return capital([low, high].filter((bound) => bound !== '').join(', '));
}

function sizes(least: number | undefined, most: number | undefined, word: string, words = `${word}s`): string {
  const count = (size: number): string => `${size} ${size === 1 ? word : words}`;
  if (least === undefined || least === 0) return most === undefined ? '' : `At most ${count(most)}`;
  return most === undefined
    ? `At least ${count(least)}`
    : least === most
      ? `Exactly ${count(least)}`
      : `${least} to ${count(most)}`;
}

function pattern(source: string | undefined): string {
  if (source === undefined) return '';
  return capital(
    (describePattern(source) ?? `must match \`${source}\``).replace(/^must be a? ?/, (start) =>
      start === 'must be ' ? 'must be ' : 'a ',
    ),
  );
}

function listType(schema: StructuralSchema): string {
  if (schema['x-kubernetes-list-type'] === 'map')
    return `Unique by ${(schema['x-kubernetes-list-map-keys'] ?? []).map((key) => `\`${key}\``).join(', ')}`;
  return schema['x-kubernetes-list-type'] === 'set' ? 'Each item once' : '';
}

function alternatives(schema: StructuralSchema): string {
  const [exactly] = exactlyOneNames(schema);
  if (exactly !== undefined) return `Exactly one of ${exactly.map((name) => `\`${name}\``).join(', ')}`;
  const names = (schema.oneOf ?? []).map((branch) => branch.required?.map((name) => `\`${name}\``).join(' and ') ?? '');
  if (names.length > 0 && !names.includes('')) return `Exactly one of ${names.join(', ')}`;
  const variants = (schema.anyOf ?? []).flatMap((branch) =>
    Object.entries(branch.properties ?? {}).map(
      ([tag, field]) =>
        `\`${tag}\` ${field.enum?.map((value) => `\`${String(value)}\``).join(' or ')} takes ${(branch.required ?? []).map((name) => `\`${name}\``).join(', ') || 'no further field'}`,
    ),
  );
  return variants.length === 0 ? '' : capital(variants.join('; '));
}

function capital(text: string): string {
  return text === '' ? '' : `${text[0]?.toUpperCase()}${text.slice(1)}`;
}
