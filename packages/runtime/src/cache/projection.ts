/**
 * Projection: what of an object the cache keeps. managedFields always go, but for the entries of our own field managers and, of
 * what we own, those by which others took something from us; the store takes them apart on arrival. That is most of the memory
 * of a cache that keeps everything.
 *
 * `trim` is idempotent: it runs on each object as it comes off the wire (so that a large list is small before it is complete)
 * and again on whatever reaches a store another way.
 */
import type { KubeObject, ManagedFields, ObjectMeta } from '@keelson/schema';
import { otherFields } from '../plan/fields.ts';
import { isMap, isSame } from '../plan/value.ts';
import type { Interner } from './sharing.ts';

/** How much of each object a store holds. */
export type Hold =
  /** All but managedFields. */
  | 'full'
  /** apiVersion, kind and metadata; the API server sends no more than that. */
  | 'metadata'
  /** apiVersion, kind, metadata and what stands at these paths (`status.conditions`); a path goes through every item of a list. */
  | { readonly fields: readonly string[] };

/** One word for a projection: equal ones have equal names. */
export function nameOf(hold: Hold): string {
  return typeof hold === 'string' ? hold : [...hold.fields].sort().join(',');
}

/** How much of the objects that it watches an operator asks for. */
export function holdOf(watch: { readonly metadataOnly?: boolean; readonly fields?: readonly string[] }): Hold {
  if (watch.metadataOnly === true) return 'metadata';
  return watch.fields === undefined ? 'full' : { fields: watch.fields };
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export type Trim = (object: KubeObject) => KubeObject;

export interface TrimOptions {
  readonly hold: Hold;
  /** The field managers whose entries are kept. */
  readonly managers: ReadonlySet<string>;
  /** Keep also what others hold, but for the status. */
  readonly others?: boolean;
  /** Shares what repeats. */
  readonly intern: Interner;
}

/** The projection for a store. */
export function createTrim({ hold, managers, others = false, intern }: TrimOptions): Trim {
  const paths = typeof hold === 'string' ? undefined : toPaths(hold.fields);
  return (raw) => {
    const entries = raw.metadata.managedFields?.flatMap((entry) => {
      if (entry.manager !== undefined && managers.has(entry.manager)) return [entry];
      return others
        ? otherFields([entry], () => false).map(({ manager, fields }) => ({ manager, fieldsV1: fields }))
        : [];
    });
    const head = {
      apiVersion: intern.text(raw.apiVersion),
      kind: intern.text(raw.kind),
      metadata: trimMetadata(raw.metadata, entries, hold === 'metadata', intern),
    };
    if (hold === 'metadata') return head;
    return { ...(paths === undefined ? raw : (select(raw, paths) as object)), ...head };
  };
}

/**
 * True when nothing differs that a store with this projection shows but the version: somebody changed what is not held. Of
 * metadata alone the version is a part, by which an operator sees that the rest has changed.
 */
export function isOutside(hold: Hold, old: KubeObject, now: KubeObject): boolean {
  if (typeof hold === 'string') return false;
  const [{ metadata: before, ...oldBody }, { metadata: after, ...body }] = [old, now];
  return isSame({ ...before, resourceVersion: after.resourceVersion }, after) && isSame(oldBody, body);
}

/** Paths as a tree: true where everything below is held. */
interface Paths {
  readonly [name: string]: Paths | true;
}

function toPaths(fields: readonly string[]): Paths {
  const below = new Map<string, string[]>();
  const whole = new Set<string>();
  for (const path of fields) {
    const [name = '', ...rest] = path.split('.');
    if (rest.length === 0) whole.add(name);
    else below.set(name, [...(below.get(name) ?? []), rest.join('.')]);
  }
  const trees = [...below].filter(([name]) => !whole.has(name)).map(([name, rest]) => [name, toPaths(rest)] as const);
  return Object.fromEntries([...trees, ...[...whole].map((name) => [name, true] as const)]);
}

/** A map or list on the way stays, if only empty, so that who reads below it meets what the type promises. */
function select(value: unknown, paths: Paths | true): unknown {
  if (paths === true) return value;
  if (Array.isArray(value)) return value.map((item) => select(item, paths));
  if (!isMap(value)) return undefined;
  const kept: Record<string, unknown> = {};
  for (const name in paths) {
    const item = Object.hasOwn(value, name) ? select(value[name], paths[name] ?? true) : undefined;
    if (item !== undefined) kept[name] = item;
  }
  return kept;
}

function trimMetadata(
  raw: ObjectMeta,
  entries: readonly ManagedFields[] | undefined,
  metadataOnly: boolean,
  intern: Interner,
): ObjectMeta {
  const { managedFields: _, ...metadata } = raw;
  if (metadata.namespace !== undefined) metadata.namespace = intern.text(metadata.namespace);
  if (metadata.labels !== undefined) metadata.labels = intern.labels(metadata.labels);
  if (metadataOnly && metadata.annotations?.[LAST_APPLIED] !== undefined) {
    const { [LAST_APPLIED]: __, ...annotations } = metadata.annotations;
    metadata.annotations = annotations;
  }
  return entries === undefined || entries.length === 0 ? metadata : { ...metadata, managedFields: [...entries] };
}
