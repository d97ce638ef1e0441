/**
 * What a resource puts into its status, for a glance: short things on a line, maps of like things as a table, long lists counted, times in
 * tables as their age. What this leaves out is in `-o yaml`. Pure, and knows no resource.
 */
import { age } from '../output/age.ts';
import { toYaml } from '../output/format.ts';
import { table } from '../output/table.ts';

type Fields = Readonly<Record<string, unknown>>;

const longestLine = 100;

/** Lines of text, each ended; nothing for no fields. */
export function ownFields(status: Fields, now: Date): string {
  const entries = Object.entries(status).filter(([, value]) => value !== undefined && value !== null);
  // What fits on a line first: it is what people look for.
  const [short, long] = [true, false].map((wanted) => entries.filter(([, value]) => isScalar(value) === wanted));
  return [...(short ?? []), ...(long ?? [])].map(([name, value]) => field(name, value, now)).join('');
}

function field(name: string, value: unknown, now: Date): string {
  const line = oneLine(value);
  if (line !== undefined) return `${name}: ${line}\n`;
  if (isMap(value)) {
    const rows = Object.entries(value);
    if (rows.length > 0 && rows.every(([, row]) => isMap(row) && Object.values(row).every(isScalar)))
      return `${name}:\n${indent(asTable(rows as [string, Fields][], now))}`;
    return `${name}:\n${indent(ownFields(value, now))}`;
  }
  return `${name}:\n${indent(toYaml(value))}`;
}

/** A scalar, a list or a map of scalars, as one line; undefined for everything else. */
function oneLine(value: unknown): string | undefined {
  if (isScalar(value)) return String(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return '-';
    if (!value.every(isScalar)) return undefined;
    const line = value.join(', ');
    return line.length <= longestLine ? line : `${value.length} entries (all of them: -o yaml)`;
  }
  if (!isMap(value) || !Object.values(value).every(isScalar)) return undefined;
  if (Object.keys(value).length === 0) return '-';
  const line = Object.entries(value)
    .map(([key, item]) => `${key}=${String(item)}`)
    .join(', ');
  return line.length <= longestLine ? line : undefined;
}

/** One row an entry; narrow columns first, so that the wide ones do not push them away. */
function asTable(rows: readonly [string, Fields][], now: Date): string {
  const columns = [...new Set(rows.flatMap(([, row]) => Object.keys(row)))];
  const cell = (row: Fields, column: string): string =>
    row[column] === undefined ? '-' : brief(String(row[column]), now);
  const widthOf = (column: string): number => Math.max(...rows.map(([, row]) => cell(row, column).length));
  columns.sort((a, b) => widthOf(a) - widthOf(b));
  return table(
    ['NAME', ...columns.map((column) => column.toUpperCase())],
    rows.map(([name, row]) => [name, ...columns.map((column) => cell(row, column))]),
  );
}

/** The digest of an image by its beginning, as people compare them; a time by how long it is ago. */
function brief(text: string, now: Date): string {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text)) return `${age(text, now)} ago`;
  return text.replace(/@sha256:([0-9a-f]{12})[0-9a-f]{52}$/, '@sha256:$1…');
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
