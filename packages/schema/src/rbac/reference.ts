/** The permissions of an operator as Markdown, for the person who has to approve them. */
import { type Grant, mergeGrants } from './grant.ts';

/** A table of the merged rules: what, where, which verbs, and why. */
export function toRbacReference(grants: readonly Grant[]): string {
  const rules = mergeGrants(grants);
  if (rules.length === 0) return 'No permissions are needed.\n';
  const rows = rules.map((rule) => [
    rule.resources.map((resource) => code(rule.group === '' ? resource : `${resource}.${rule.group}`)).join('<br>'),
    rule.namespace === '' ? 'whole cluster' : code(rule.namespace),
    rule.names.length === 0 ? 'all' : rule.names.map(code).join('<br>'),
    rule.verbs.map(code).join(' '),
    rule.why.map(cell).join('<br>'),
  ]);
  const lines = [['Resource', 'Where', 'Objects', 'Verbs', 'Why'], ['---', '---', '---', '---', '---'], ...rows].map(
    (row) => `| ${row.join(' | ')} |`,
  );
  return `${lines.join('\n')}\n`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function cell(text: string): string {
  return text.replace(/\|/g, '\\|').replace(/\s*\n\s*/g, ' ');
}
