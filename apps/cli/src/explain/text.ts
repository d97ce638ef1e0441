/** An explanation for people. Pure. */
import type { Palette } from '../output/palette.ts';
import { table } from '../output/table.ts';
import type { Explanation } from './explain.ts';
import type { Field } from './fields.ts';
import type { Permission } from './permission.ts';

export function explanationText(explanation: Explanation, paint: Palette): string {
  const { kind, apiVersion, resource, scope, shortNames, operator, description } = explanation;
  const head = [
    `${paint.strong(kind)} ${apiVersion} (${resource}, ${scope.toLowerCase()}${shortNames.length === 0 ? '' : `, short: ${shortNames.join(', ')}`})`,
    `Operator ${paint.strong(operator)}: ${description}`,
  ];
  const sections = [
    section(
      'Fields',
      explanation.fields.map((field) => fieldLine(field, paint)),
    ),
    section('Rules', explanation.rules),
    section(
      'Owns',
      explanation.owns.map((owned) => `${owned.kind}, ${owned.where}`),
    ),
    section(
      'Watches',
      explanation.watches.map((watch) => `${watch.kind}, ${watch.holds}`),
    ),
    section(
      'Reads',
      explanation.reads.map((read) => `${read.kind}: ${read.why}`),
    ),
    section('Permissions', permissionLines(explanation.permissions)),
  ];
  return `${head.join('\n')}\n${sections.join('')}`;
}

/** A field and what is below it. */
export function fieldText(kind: string, [field, ...below]: readonly Field[], paint: Palette): string {
  if (field === undefined) return '';
  const lines = [`${paint.strong(`${kind.toLowerCase()}.${field.path}`)}  ${traits(field)}`];
  if (field.description !== undefined) lines.push('', field.description);
  return `${lines.join('\n')}\n${section('Rules', field.rules)}${section(
    'Fields',
    below.map((one) => fieldLine(one, paint)),
  )}`;
}

/** Lines under a title; nothing where there are none. */
export function section(title: string, lines: readonly string[]): string {
  return lines.length === 0
    ? ''
    : `\n${title}:\n${lines.map((line) => `  ${line.replaceAll('\n', '\n  ')}\n`).join('')}`;
}

/** A field with its type, limits, description and rules. */
export function fieldLine(field: Field, paint: Palette): string {
  const lines = [`${paint.name(field.path)}  ${traits(field)}`];
  if (field.description !== undefined) lines.push(`  ${field.description}`);
  return [...lines, ...field.rules.map((rule) => `  ${paint.faint('rule:')} ${rule}`)].join('\n');
}

/** `integer = 1, 1 … 20` */
function traits({ type, required, limits, default: fallback }: Field): string {
  const value = fallback === undefined ? '' : ` = ${JSON.stringify(fallback)}`;
  return [`${type}${value}`, ...(required ? ['required'] : []), ...limits].join(', ');
}

/** What may be done with what, and why, as lines of a table. */
export function permissionLines(permissions: readonly Permission[]): string[] {
  if (permissions.length === 0) return [];
  const rows = permissions.map(({ verbs, resource, names, why }) => [
    names.length === 0 ? resource : `${resource} (${names.join(', ')})`,
    verbs.join(' '),
    why,
  ]);
  return table(['RESOURCE', 'VERBS', 'WHY'], rows).trimEnd().split('\n');
}
