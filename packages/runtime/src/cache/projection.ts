/**
 * Projection: what of an object the cache keeps. managedFields always go, but for the entries of our own field managers, which
 * the store takes apart on arrival; that is most of the memory of a cache that keeps everything.
 *
 * `trim` is idempotent: it runs on each object as it comes off the wire (so that a large list is small before it is complete)
 * and again on whatever reaches a store another way.
 */
import type { KubeObject, ManagedFields, ObjectMeta } from '@keelson/schema';
import type { Interner } from './sharing.ts';

/** How much of each object a store holds. */
export type Hold =
  /** All but managedFields. */
  | 'full'
  /** apiVersion, kind and metadata; the API server sends no more than that. */
  | 'metadata'
  /** What the operator looks at, by a function; metadata is kept whatever it does. */
  | { readonly name: string; readonly keep: (object: KubeObject) => KubeObject };

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export type Trim = (object: KubeObject) => KubeObject;

/** The projection for a store; `managers` are the field managers whose entries are kept, `intern` shares what repeats. */
export function createTrim(hold: Hold, managers: ReadonlySet<string>, intern: Interner): Trim {
  return (raw) => {
    const own = raw.metadata.managedFields?.filter(({ manager }) => manager !== undefined && managers.has(manager));
    const head = {
      apiVersion: intern.text(raw.apiVersion),
      kind: intern.text(raw.kind),
      metadata: trimMetadata(raw.metadata, own, hold === 'metadata', intern),
    };
    if (hold === 'metadata') return head;
    return { ...(hold === 'full' ? raw : hold.keep(raw)), ...head };
  };
}

function trimMetadata(
  raw: ObjectMeta,
  own: readonly ManagedFields[] | undefined,
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
  return own === undefined || own.length === 0 ? metadata : { ...metadata, managedFields: [...own] };
}
