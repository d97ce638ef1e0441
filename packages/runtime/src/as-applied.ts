/**
 * What `kubectl apply` of a file would make of an instance: the API server is asked, as a dry run, so its rules (CEL), its
 * webhooks and what others have set count as they would. For previews; writes nothing.
 *
 * kubectl merges: it sets what the file says, removes what the file before said and this one does not, and leaves the rest as it
 * is. Where it remembers the file before (its annotation, or field ownership after `--server-side`), that is used.
 */
import { type Fault, isFault, type KubeClient } from '@keelson/kube';
import type { Kind, KubeObject, Problem } from '@keelson/schema';
import { isMap, type PlainMap } from './plan/value.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

export type AsApplied =
  | { readonly object: KubeObject; readonly warnings: readonly string[] }
  | { readonly problems: readonly Problem[] };

/** The existing instance with the file merged into it, here and without asking anybody. */
export function mergeFile(existing: KubeObject, file: KubeObject): KubeObject {
  return mergePatch(existing, kubectlPatch(existing, file)) as KubeObject;
}

/**
 * Asks the API server. One that cannot be asked, for lack of a permission or because the namespace comes with the same file, leaves it
 * at `merged`, with a warning.
 */
export async function askServer(
  client: KubeClient,
  kind: Kind,
  given: {
    readonly file: KubeObject;
    readonly merged: KubeObject;
    readonly existing?: KubeObject | undefined;
    /** The namespace is applied together with it. */
    readonly bringsNamespace: boolean;
  },
  signal: AbortSignal,
): Promise<AsApplied> {
  const { file, merged, existing, bringsNamespace } = given;
  const unasked = (why: string): AsApplied => ({
    object: merged,
    warnings: [`the API server was not asked whether it takes this: ${why}`],
  });
  try {
    const options = { fieldManager: 'kubectl', dryRun: true, signal };
    const answer =
      existing === undefined || isServerSide(existing)
        ? await client.apply(kind, file, { ...options, force: true })
        : await client.patch(kind, existing.metadata, { type: 'merge', value: kubectlPatch(existing, file) }, options);
    return { object: { ...merged, spec: answer.spec }, warnings: [] };
  } catch (error) {
    if (isFault(error, 'Forbidden') && !/admission webhook/.test(error.message)) return unasked(error.message);
    if (isFault(error, 'NotFound') && existing === undefined && bringsNamespace)
      return unasked(`namespace ${file.metadata.namespace} does not exist yet`);
    if (isFault(error, 'Invalid', 'BadRequest', 'Forbidden', 'NotFound')) return { problems: toProblems(error) };
    throw error;
  }
}

function toProblems(fault: Fault): readonly Problem[] {
  const causes = fault.details.causes ?? [];
  if (causes.length === 0) return [{ path: '', message: fault.message }];
  return causes.map(({ field, message, reason }) => ({
    path: field ?? '',
    message: message ?? reason ?? fault.message,
  }));
}

const isServerSide = ({ metadata }: KubeObject) =>
  metadata.managedFields?.some(({ manager, operation }) => manager === 'kubectl' && operation === 'Apply') === true;

/** The merge patch that kubectl would send. */
function kubectlPatch(existing: KubeObject, file: KubeObject): PlainMap {
  return withRemovals(concerned(file), parseFields(existing.metadata.annotations?.[lastApplied]));
}

/** What is wanted, with null for what was wanted before and is not any more. */
function withRemovals(now: PlainMap, before: PlainMap): PlainMap {
  const removed = Object.keys(before).filter((name) => before[name] !== undefined && now[name] === undefined);
  const kept = Object.entries(now)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const old = before[name];
      return [name, isMap(value) && isMap(old) ? withRemovals(value, old) : value] as const;
    });
  return Object.fromEntries([...kept, ...removed.map((name) => [name, null] as const)]);
}

/** RFC 7396. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const merged: Record<string, unknown> = isMap(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}

/** The part of an object that a file is about. */
function concerned(object: PlainMap): PlainMap {
  const { labels = {}, annotations = {} } = isMap(object.metadata) ? object.metadata : {};
  return { spec: object.spec, metadata: { labels, annotations } };
}

function parseFields(text: string | undefined): PlainMap {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return isMap(value) ? concerned(value) : {};
  } catch {
    // Somebody else wrote the annotation: kubectl refuses then, and there is nothing to go by.
    return {};
  }
}
