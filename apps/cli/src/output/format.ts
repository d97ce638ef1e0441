/** `-o json|yaml`: the machine's side of every command that answers with data. */
import { stringify } from 'yaml';
import type { Format } from './format-option.ts';

export function toYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** One value as JSON or YAML, ending in a newline. */
export function format(value: unknown, as: Format): string {
  return as === 'json' ? `${JSON.stringify(value, undefined, 2)}\n` : toYaml(value);
}

/** Several objects: a YAML stream of documents, or one JSON List. */
export function formatObjects(objects: readonly unknown[], as: Format): string {
  if (as === 'json') return format({ apiVersion: 'v1', kind: 'List', items: objects }, 'json');
  return objects.map(toYaml).join('---\n');
}
