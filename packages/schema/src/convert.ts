/** Conversion between the versions of a resource, always by way of the stored one. Pure; the conversion webhook calls it. */
import { apiVersionOf } from './kind.ts';
import type { KubeObject } from './object.ts';
import { type Converted, type Convertible, type Resource, type ResourceVersion, storageVersionOf } from './resource.ts';
import { copyPlain, isPlainObject } from './validate/plain.ts';
import { createReport, type Problem, show } from './validate/report.ts';

export type ConvertResult =
  | { readonly ok: true; readonly object: KubeObject }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * The object in another version of its resource. It is not validated: what is stored must be readable whatever the schema says
 * today. What the resource's own conversion functions throw is passed on.
 */
export function convertInstance(resource: Resource, object: unknown, targetApiVersion: string): ConvertResult {
  const report = createReport();
  const given = isPlainObject(object) ? object : {};
  const source = findVersion(resource, given.apiVersion);
  const target = findVersion(resource, targetApiVersion);
  if (!isPlainObject(object)) report.problems.push({ path: '', message: `must be an object, got ${show(object)}` });
  else if (given.kind !== resource.kind)
    report.problems.push({ path: 'kind', message: `must be ${resource.kind}, got ${show(given.kind)}` });
  else if (source === undefined)
    report.problems.push({
      path: 'apiVersion',
      message: `must be one of ${apiVersionsOf(resource)}; got ${show(given.apiVersion)}`,
    });
  else if (target === undefined)
    report.problems.push({
      path: 'apiVersion',
      message: `cannot be converted to ${show(targetApiVersion)}: ${resource.kind} has ${apiVersionsOf(resource)}`,
    });
  if (report.problems.length > 0 || source === undefined || target === undefined)
    return { ok: false, problems: report.problems };
  const copy = thaw(given, report);
  if (report.problems.length > 0) return { ok: false, problems: report.problems };
  const storage = storageVersionOf(resource);
  const stored = step(
    copy,
    source === target ? undefined : source.convert?.toStorage,
    apiVersionOf({ group: resource.group, version: storage.name }),
  );
  return {
    ok: true,
    object: step(
      source === target ? copy : stored,
      source === target ? undefined : target.convert?.fromStorage,
      targetApiVersion,
    ),
  };
}

/** The version of a resource that an apiVersion names. */
export function findVersion(resource: Resource, apiVersion: unknown): ResourceVersion | undefined {
  return resource.versions.find(
    (version) => apiVersionOf({ group: resource.group, version: version.name }) === apiVersion,
  );
}

/** The apiVersions of a resource, for messages. */
export function apiVersionsOf(resource: Resource): string {
  return resource.versions.map((version) => apiVersionOf({ group: resource.group, version: version.name })).join(', ');
}

function step(
  object: KubeObject,
  convert: ((object: Convertible) => Converted) | undefined,
  apiVersion: string,
): KubeObject {
  if (convert === undefined) return { ...object, apiVersion };
  const { metadata, spec, status } = object;
  const converted = convert({ metadata, spec, ...(isPlainObject(status) ? { status } : {}) });
  const { labels, annotations } = converted.metadata ?? {};
  const kept = converted.status ?? status;
  return {
    apiVersion,
    kind: object.kind,
    metadata: {
      ...metadata,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: converted.spec,
    ...(kept === undefined ? {} : { status: kept }),
  };
}

/** A copy that a conversion may change. */
function thaw(object: Record<string, unknown>, report: ReturnType<typeof createReport>): KubeObject {
  return structuredClone(copyPlain(object, report)) as KubeObject;
}
