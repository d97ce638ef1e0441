/** What is wrong with the definition of an operator: each flaw as a sentence with its remedy. Asked by `defineOperator`. */
import { type Resource, resourceNameOf, toMilliseconds } from '@keelson/schema';
import type { Operator, Watch } from './operator.ts';
import { isMap } from './plan/value.ts';

/** Every flaw of a definition; empty when there is none. */
export function flawsOf<R extends Resource, X>(operator: Operator<R, X>): string[] {
  return [...flawsOfNames(operator), ...flawsOfKinds(operator), ...flawsOfRules(operator)];
}

function flawsOfNames(operator: Pick<Operator, 'name' | 'fieldManager' | 'finalizer'>): string[] {
  const flaws: string[] = [];
  if (!/^[a-z]([a-z0-9-]*[a-z0-9])?$/.test(operator.name))
    flaws.push("name must be lower-case letters, digits and dashes and start with a letter, e.g. 'website'");
  // It is the value of a label on every child.
  if (!/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(operator.fieldManager))
    flaws.push(
      `fieldManager '${operator.fieldManager}' must be at most 63 letters, digits, dashes, dots or underscores`,
    );
  const [domain = '', name = '', ...rest] = operator.finalizer.split('/');
  const isDomain =
    domain.length <= 253 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/.test(domain);
  const isName = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(name);
  if (!isDomain || !isName || rest.length > 0)
    flaws.push(
      `finalizer '${operator.finalizer}' must be a domain of yours, a slash and a name, e.g. 'example.io/cleanup'`,
    );
  return flaws;
}

function flawsOfKinds(operator: Pick<Operator, 'resource' | 'owns' | 'watches' | 'reads'>): string[] {
  const flaws = operator.watches.flatMap(flawsOfFields);
  const owned = operator.owns.map(({ kind }) => resourceNameOf(kind));
  for (const [i, { kind, anywhere, names }] of operator.owns.entries()) {
    const name = resourceNameOf(kind);
    if (owned.indexOf(name) !== i) flaws.push(`owns ${name} twice: remove one, or pick one version of it`);
    if (anywhere === true && kind.scope === 'Cluster')
      flaws.push(`owns ${name} with anywhere, but it is cluster-scoped: leave anywhere out`);
    if (names?.length === 0)
      flaws.push(`owns ${name} with an empty list of names: name what it makes, or leave names out to make any`);
  }
  if (owned.includes(resourceNameOf(operator.resource)))
    flaws.push(
      `owns its own resource ${resourceNameOf(operator.resource)}: an instance cannot make others of its kind, define a second resource`,
    );
  for (const { kind, namespace, names, why } of operator.reads) {
    const name = resourceNameOf(kind);
    if (why.trim() === '') flaws.push(`reads ${name} without saying why: the text goes into the permissions reference`);
    if (namespace !== undefined && kind.scope === 'Cluster')
      flaws.push(`reads ${name} in namespace '${namespace}', but it is cluster-scoped: leave the namespace out`);
    if (names !== undefined && names.length === 0)
      flaws.push(`reads ${name} with an empty list of names: name what it reads, or leave names out to read any`);
  }
  return flaws;
}

function flawsOfFields({ kind, fields, metadataOnly }: Pick<Watch, 'kind' | 'fields' | 'metadataOnly'>): string[] {
  if (fields === undefined) return [];
  const watches = `watches ${resourceNameOf(kind)}`;
  const flaws = fields.flatMap((path) => {
    const names = path.split('.');
    if (names.some((name) => name.trim() === '' || /[[\]*]/.test(name)))
      return [`${watches} with the field '${path}': write names with dots between them, e.g. 'status.conditions'`];
    if (['apiVersion', 'kind', 'metadata'].includes(names[0] ?? ''))
      return [`${watches} with the field '${path}': ${names[0]} is always held, leave it out`];
    return [];
  });
  if (metadataOnly === true) flaws.push(`${watches} with both metadataOnly and fields: choose one`);
  else if (fields.length === 0) flaws.push(`${watches} with an empty list of fields: write metadataOnly: true`);
  return flaws;
}

function flawsOfRules<R extends Resource, X>(operator: Operator<R, X>): string[] {
  const flaws: string[] = [];
  for (const task of ['reconcile', 'finalize'] as const) {
    const rule: unknown = operator[task];
    if (rule === undefined && task === 'finalize') continue;
    if (typeof rule !== 'function') flaws.push(`${task} must be a function`);
    else if (rule.constructor.name === 'AsyncFunction')
      flaws.push(`${task} is async, but it must be pure: read in observe, write by what it returns`);
  }
  for (const [name, handler] of Object.entries(operator.effects)) {
    if (typeof handler !== 'function') flaws.push(`effects.${name} must be a function: make it with defineEffect`);
  }
  if (!Number.isInteger(operator.concurrency) || operator.concurrency < 1)
    flaws.push(`concurrency must be a whole number of at least 1, not ${operator.concurrency}`);
  for (const span of ['resync', 'finalizeDeadline', 'observeTimeout'] as const) {
    try {
      if (toMilliseconds(operator[span]) <= 0) flaws.push(`${span} must be longer than nothing`);
    } catch (error) {
      flaws.push(`${span}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const field = operator.lifecycle?.field;
  const status = operator.resource.versions.find((version) => version.storage)?.status;
  if (field !== undefined && !hasField(status, field.split('.')))
    flaws.push(`its lifecycle is kept in status.${field}, which the status of ${operator.resource.kind} does not have`);
  return flaws;
}

/** Whether a schema has this field; one that does not say what it has may have any. */
function hasField(schema: unknown, [name, ...rest]: readonly string[]): boolean {
  const properties = isMap(schema) ? schema.properties : undefined;
  if (name === undefined || !isMap(properties)) return true;
  return name in properties && hasField(properties[name], rest);
}
