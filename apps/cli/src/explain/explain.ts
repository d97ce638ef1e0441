/** `explain`: an operator, or one field of its resource, in words. Needs no cluster. */
import { type Operator, permissions, type Watch } from '@keelson/runtime';
import { apiVersionOf, mergeGrants, resourceNameOf, storageVersionOf } from '@keelson/schema';
import type { ExplainOptions } from '../commands/explain.ts';
import { loadProject } from '../config/load-config.ts';
import { operatorOf } from '../config/operator-of.ts';
import { failure } from '../failure.ts';
import { format } from '../output/format.ts';
import { table } from '../output/table.ts';
import type { Shell } from '../shell.ts';
import { type Field, fieldsOf, type OpenApi, schemaAt } from './fields.ts';
import { type Permission, permissionOf } from './permission.ts';
import { explanationText, fieldText } from './text.ts';

export interface Explanation {
  readonly operator: string;
  readonly description: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly resource: string;
  readonly scope: string;
  readonly shortNames: readonly string[];
  readonly rules: readonly string[];
  readonly fields: readonly Field[];
  readonly owns: readonly { kind: string; where: string }[];
  readonly watches: readonly { kind: string; holds: string }[];
  readonly reads: readonly { kind: string; why: string }[];
  readonly permissions: readonly Permission[];
}

export async function explain(
  what: string | undefined,
  name: string | undefined,
  options: ExplainOptions,
  shell: Shell,
): Promise<void> {
  if (name !== undefined)
    throw failure(
      'usage',
      `explain takes one word but for features: '${name}' is too much`,
      '`keelson explain feature NAME`',
    );
  const { operators } = await loadProject(options, shell);
  if (what === undefined) {
    shell.out(overview(operators, options, shell));
    return;
  }
  const [word = '', ...path] = what.split('.');
  const operator = operatorOf(word, operators);
  if (path.length > 0) {
    shell.out(explainField(operator, path, options, shell));
    return;
  }
  const explanation = explanationOf(operator);
  shell.out(
    options.output === undefined ? explanationText(explanation, shell.paint) : format(explanation, options.output),
  );
}

function overview(operators: readonly Operator[], { output }: ExplainOptions, shell: Shell): string {
  if (output !== undefined) return format({ operators: operators.map(explanationOf) }, output);
  const rows = operators.map(({ name, resource, owns, description }) => [
    name,
    `${resource.kind} (${apiVersionOf(resource)})`,
    owns.map(({ kind }) => kind.kind).join(', '),
    description ?? resource.description,
  ]);
  return table(['OPERATOR', 'KIND', 'OWNS', 'WHAT IT DOES'], rows, shell.live ? shell.columns : undefined);
}

function explainField(operator: Operator, path: readonly string[], { output }: ExplainOptions, shell: Shell): string {
  const at = schemaAt(storageVersionOf(operator.resource).schema as OpenApi, path);
  if ('missing' in at) {
    const place = [operator.resource.kind.toLowerCase(), at.under].filter((part) => part !== '').join('.');
    throw failure(
      'usage',
      `${place} has no field '${at.missing}'`,
      at.known.length === 0 ? `${place} has no fields of its own` : `its fields: ${at.known.join(', ')}`,
    );
  }
  const fields = fieldsOf(at.found, at.path);
  return output === undefined ? fieldText(operator.resource.kind, fields, shell.paint) : format({ fields }, output);
}

/** How much of each object is held in memory. */
function heldBy({ metadataOnly, fields }: Pick<Watch, 'metadataOnly' | 'fields'>): string {
  if (metadataOnly === true) return 'names, labels and annotations';
  return fields === undefined ? 'whole objects' : `metadata, ${fields.join(', ')}`;
}

/** What every resource has is not worth repeating. */
const isOwn = ({ path }: Field): boolean => !/^status\.(observedGeneration$|conditions)/.test(path);

export function explanationOf(operator: Operator): Explanation {
  const { resource } = operator;
  const schema = storageVersionOf(resource).schema as OpenApi;
  const spec = schema.properties?.spec ?? {};
  const all = [...fieldsOf(spec, 'spec', true), ...fieldsOf(schema.properties?.status ?? {}, 'status')];
  return {
    operator: operator.name,
    description: operator.description ?? resource.description,
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    resource: resourceNameOf(resource),
    scope: resource.scope,
    shortNames: resource.shortNames,
    rules: (schema['x-kubernetes-validations'] ?? []).map(({ rule, message }) => message ?? rule),
    fields: all.filter(isOwn),
    owns: operator.owns.map(({ kind, anywhere }) => ({
      kind: `${kind.kind} (${apiVersionOf(kind)})`,
      where:
        kind.scope === 'Cluster'
          ? 'cluster-scoped'
          : anywhere === true
            ? 'in any namespace'
            : `in the namespace of its ${resource.kind}`,
    })),
    watches: operator.watches.map((watch) => ({
      kind: `${watch.kind.kind} (${apiVersionOf(watch.kind)})`,
      holds: heldBy(watch),
    })),
    reads: operator.reads.map(({ kind, why, names }) => ({
      kind: `${kind.kind}${names === undefined ? '' : ` ${names.join(', ')}`} (${apiVersionOf(kind)})`,
      why,
    })),
    permissions: mergeGrants(permissions([operator])).map(permissionOf),
  };
}
