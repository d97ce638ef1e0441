/**
 * Reference docs: a resource as one Markdown page, out of the same structural schema that the API server gets. `make generate`
 * writes it to docs/reference; nothing here is written by hand, so nothing here can be stale.
 */
import { deprecationWarningOf } from '../crd.ts';
import { apiVersionOf, resourceNameOf } from '../kind.ts';
import { type Resource, type ResourceVersion, storageVersionOf } from '../resource.ts';
import type { Rule, StructuralSchema } from '../structural/schema.ts';
import { describeConstraints, describeType } from './describe.ts';
import { toSample } from './sample.ts';
import { toYaml } from './yaml.ts';

/** The reference page of a resource. */
export function toReference(resource: Resource): string {
  const storage = storageVersionOf(resource);
  const others = resource.versions.filter((version) => version !== storage && version.served);
  const sections = [
    `# ${resource.kind}`,
    resource.description,
    headTable(resource),
    '## Sample',
    `\`\`\`yaml\n${toYaml(toSample(resource))}\n\`\`\``,
    ...versionSections(storage, '##'),
    ...versionsSection(resource),
    ...others.flatMap((version) => [
      `## ${apiVersionOf({ group: resource.group, version: version.name })}`,
      ...versionSections(version, '###'),
    ]),
  ];
  return `${sections.join('\n\n')}\n`;
}

function headTable(resource: Resource): string {
  return table(
    ['', ''],
    [
      ['API', code(apiVersionOf(resource))],
      ['Scope', resource.scope === 'Cluster' ? 'cluster' : 'namespaced'],
      ['CRD', code(resourceNameOf(resource))],
      ['kubectl get', [resource.plural, resource.singular, ...resource.shortNames].map(code).join(' ')],
      ...(resource.categories.length > 0 ? [['Categories', resource.categories.map(code).join(' ')]] : []),
    ],
  );
}

function versionSections(version: ResourceVersion, heading: string): string[] {
  const { spec = {}, status = {} } = version.schema.properties ?? {};
  const rules = rulesOf(version.schema, '');
  const sections = [`${heading} Spec`, toFieldTable(spec, 'spec'), `${heading} Status`, toFieldTable(status, 'status')];
  if (rules.length > 0) sections.push(`${heading} Rules`, table(['Where', 'Rule', 'Otherwise'], rules));
  if (version.scale !== undefined)
    sections.push(
      `${heading} Scale`,
      `\`kubectl scale\` sets ${code(version.scale.specReplicas)}; ${code(version.scale.statusReplicas)} is what is there.`,
    );
  const columns = version.columns.map((column) => [
    column.name,
    code(column.jsonPath),
    `${cell(column.description ?? '')}${(column.priority ?? 0) > 0 ? ' (with `-o wide`)' : ''}`,
  ]);
  sections.push(`${heading} Columns of \`kubectl get\``, table(['Column', 'Field', ''], columns));
  if (version.selectableFields.length > 0)
    sections.push(`Field selectors: ${version.selectableFields.map((path) => code(path.slice(1))).join(' ')}.`);
  return sections;
}

function versionsSection(resource: Resource): string[] {
  if (resource.versions.length === 1) return [];
  const rows = resource.versions.map((version) => [
    code(version.name),
    version.storage ? 'stored' : version.served ? 'served' : 'not served',
    version.deprecated ? cell(deprecationWarningOf(resource, version)) : '',
  ]);
  return ['## Versions', table(['Version', '', ''], rows)];
}

/** The fields of a schema as a Markdown table; `path` is where it stands, '' for nowhere. */
export function toFieldTable(schema: StructuralSchema, path: string): string {
  const rows = fieldRows(schema, path);
  return rows.length === 0 ? 'No fields of its own.' : table(['Field', 'Type', 'Default', 'Description'], rows);
}

function fieldRows(schema: StructuralSchema, path: string): string[][] {
  const rows: string[][] = [];
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const at = path === '' ? name : `${path}.${name}`;
    const required = schema.required?.includes(name) === true;
    const facts = [field.description ?? '', ...describeConstraints(field)]
      .filter((fact) => fact !== '')
      .map((fact) => (/[.!?]$/.test(fact) ? fact : `${fact}.`));
    rows.push([
      `${code(at)}${required ? ' **required**' : ''}`,
      describeType(field),
      field.default === undefined ? '' : code(JSON.stringify(field.default)),
      cell(facts.join(' ')),
    ]);
    rows.push(...fieldRows(innermost(field), `${at}${suffix(field)}`));
  }
  return rows;
}

/** The schema of the entries of lists and records, however deep. */
function innermost(schema: StructuralSchema): StructuralSchema {
  const inner = schema.items ?? schema.additionalProperties;
  return inner === undefined ? schema : innermost(inner);
}

function suffix(schema: StructuralSchema): string {
  if (schema.items !== undefined) return `[]${suffix(schema.items)}`;
  return schema.additionalProperties === undefined ? '' : `.*${suffix(schema.additionalProperties)}`;
}

function rulesOf(schema: StructuralSchema, path: string): string[][] {
  const own = (schema['x-kubernetes-validations'] ?? []).map((rule: Rule) => [
    path === '' ? 'the whole object' : code(path),
    code(rule.rule.replace(/\s+/g, ' ')),
    cell(rule.message),
  ]);
  const children = Object.entries(schema.properties ?? {}).map(
    ([name, field]) => [path === '' ? name : `${path}.${name}`, field] as const,
  );
  if (schema.items !== undefined) children.push([`${path}[]`, schema.items]);
  if (schema.additionalProperties !== undefined) children.push([`${path}.*`, schema.additionalProperties]);
  return [...own, ...children.flatMap(([at, child]) => rulesOf(child, at))];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Code in a cell: a pipe would end the cell even between backticks. */
function code(text: string): string {
  const fence = text.includes('`') ? '``' : '`';
  return `${fence}${text.replace(/\|/g, '\\|')}${fence}`;
}

function cell(text: string): string {
  return text.replace(/\|/g, '\\|').replace(/\s*\n\s*/g, ' ');
}
