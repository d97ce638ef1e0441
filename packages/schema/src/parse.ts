/** Offline validation of whole objects: what the API server would make of them, without a cluster. */
import { apiVersionsOf, convertInstance, findVersion } from './convert.ts';
import { apiVersionOf } from './kind.ts';
import { type Instance, type Resource, type ResourceVersion, storageVersionOf } from './resource.ts';
import { checkMetadataKeys } from './validate/metadata.ts';
import { isPlainObject } from './validate/plain.ts';
import { createReport, type Problem, show } from './validate/report.ts';

export type ParseResult<R extends Resource> =
  | { readonly ok: true; readonly instance: Instance<R> }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Validates and defaults an object as the API server would, in the stored version, and gives it deeply frozen. An object in
 * another version of the resource is converted. Fields of a status that no longer fit the schema are left out: the operator
 * writes its status anew, and nobody else can. Pure, and no input makes it throw but a conversion function that throws.
 * CEL rules are the server's alone, but for `exactlyOneOf`.
 */
export function parseInstance<R extends Resource>(resource: R, object: unknown): ParseResult<R> {
  const problem = identify(resource, object);
  const version = isPlainObject(object) ? findVersion(resource, object.apiVersion) : undefined;
  if (problem !== undefined || version === undefined)
    return { ok: false, problems: problem === undefined ? [] : [problem] };
  const parsed = visit(version, object);
  const storage = storageVersionOf(resource);
  if (!parsed.ok || version === storage) return parsed as ParseResult<R>;
  const converted = convertInstance(resource, parsed.instance, apiVersionOf(resource));
  return (converted.ok ? visit(storage, converted.object) : converted) as ParseResult<R>;
}

export type ParseStatusResult =
  | { readonly ok: true; readonly status: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** A status in the stored version as the API server would keep it, or what it would refuse: for whoever is about to write it. */
export function parseStatus(resource: Resource, status: unknown): ParseStatusResult {
  const report = createReport();
  const object = storageVersionOf(resource).visit({ status }, report);
  const problems = report.problems.filter(({ path }) => /^status\b/.test(path));
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, status: isPlainObject(object) ? object.status : undefined };
}

/** One line a problem, for a terminal or a condition: `spec.replicas: must be at least 1, got 0`. */
export function formatProblems(problems: readonly Problem[]): string {
  return problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('\n');
}

function identify(resource: Resource, object: unknown): Problem | undefined {
  if (!isPlainObject(object)) return { path: '', message: `must be an object, got ${show(object)}` };
  if (object.kind !== resource.kind)
    return { path: 'kind', message: `must be ${resource.kind}, got ${show(object.kind)}` };
  if (findVersion(resource, object.apiVersion) !== undefined) return undefined;
  const names = apiVersionsOf(resource);
  return {
    path: 'apiVersion',
    message: `must be ${resource.versions.length === 1 ? names : `one of ${names}`}; got ${show(object.apiVersion)}`,
  };
}

function visit(version: ResourceVersion, object: unknown): ParseResult<Resource> {
  const first = check(version, object);
  if (first.ok || !first.problems.every(({ path }) => path.startsWith('status'))) return first;
  return check(version, withoutBadStatus(object, first.problems));
}

function check(version: ResourceVersion, object: unknown): ParseResult<Resource> {
  const report = createReport();
  const instance = version.visit(object, report);
  if (isPlainObject(instance)) checkMetadataKeys(instance.metadata, report);
  return report.problems.length === 0
    ? { ok: true, instance: instance as Instance<Resource> }
    : { ok: false, problems: report.problems };
}

/** The object without those fields of its status that have problems; without a status if they cannot be told. */
function withoutBadStatus(object: unknown, problems: readonly Problem[]): unknown {
  const { status, ...rest } = isPlainObject(object) ? object : {};
  const bad = problems.map(({ path }) => /^status\.([\w$-]+)/.exec(path)?.[1]);
  if (!isPlainObject(status) || bad.includes(undefined)) return rest;
  return { ...rest, status: Object.fromEntries(Object.entries(status).filter(([name]) => !bad.includes(name))) };
}
