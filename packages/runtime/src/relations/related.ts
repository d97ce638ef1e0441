/**
 * The one meaning of what `relate` answers. `{ name }` and `{ labels }` look in the instance's own namespace unless they name
 * another; an instance without a namespace looks in all of them for labels. `'all'` is every object of the kind, everywhere.
 */
import { type Kind, type KubeObject, resourceNameOf } from '@keelson/schema';
import type { Live, Store } from '../cache/store.ts';
import type { Related } from '../operator.ts';

/** A `Related` with its defaults filled in. */
export type Selection =
  | { readonly by: 'name'; readonly name: string; readonly namespace: string }
  | { readonly by: 'labels'; readonly labels: Readonly<Record<string, string>>; readonly namespace?: string }
  | { readonly by: 'all' };

/** Fills in the defaults of one answer of `relate` for an instance in this namespace (undefined if cluster-scoped). */
export function toSelection(related: Related, kind: Kind, instanceNamespace: string | undefined): Selection {
  if (related === 'all') return { by: 'all' };
  const namespace = kind.scope === 'Cluster' ? undefined : (related.namespace ?? instanceNamespace);
  if ('name' in related) return { by: 'name', name: related.name, namespace: namespace ?? '' };
  return namespace === undefined
    ? { by: 'labels', labels: related.labels }
    : { by: 'labels', labels: related.labels, namespace };
}

/** True when this object is the instance itself: to an instance that watches its own kind, the others are related. */
export function isInstance(resource: Kind, self: KubeObject, kind: Kind, object: KubeObject): boolean {
  if (resourceNameOf(kind) !== resourceNameOf(resource) || object.metadata.name !== self.metadata.name) return false;
  return resource.scope === 'Cluster' || object.metadata.namespace === self.metadata.namespace;
}

/** True when the object is among those selected. */
export function isSelected(selection: Selection, object: KubeObject): boolean {
  const { name, namespace = '', labels } = object.metadata;
  if (selection.by === 'all') return true;
  if (selection.by === 'name') return selection.name === name && selection.namespace === namespace;
  if (selection.namespace !== undefined && selection.namespace !== namespace) return false;
  for (const label in selection.labels) if (labels?.[label] !== selection.labels[label]) return false;
  return true;
}

/** The objects in a store that `relate` asked for, each once. */
export function selectRelated<T extends KubeObject>(
  store: Store<T>,
  related: readonly Related[],
  instanceNamespace: string | undefined,
): readonly Live<T>[] {
  const found = new Map<string, Live<T>>();
  const add = (live: Live<T>): void => {
    found.set(`${live.object.metadata.namespace ?? ''}/${live.object.metadata.name}`, live);
  };
  for (const one of related) {
    const selection = toSelection(one, store.kind, instanceNamespace);
    if (selection.by === 'name') {
      const live = store.get(selection.namespace === '' ? { name: selection.name } : selection);
      if (live !== undefined) add(live);
      continue;
    }
    const candidates = store.list(selection.by === 'labels' ? selection.namespace : undefined);
    for (const live of candidates) if (isSelected(selection, live.object)) add(live);
  }
  return [...found.values()];
}
