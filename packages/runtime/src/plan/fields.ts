/**
 * Field sets: which fields of an object a manager owns, as the API server writes them in `metadata.managedFields`
 * (format: sigs.k8s.io/structured-merge-diff, `fieldpath/serialize`). A node is a map of
 *   `f:<name>` a field      `k:{"name":"web"}` the item of an associative list with this key      `v:<json>` a member of a set
 *   `.`        the node itself; a node without children is owned as a whole (a scalar, an atomic map or list, an empty map).
 * From this the plan knows, without any schema, how the server merges each list.
 */
import type { KubeObject, ManagedFields } from '@keelson/schema';
import type { Live, OtherFields } from '../cache/store.ts';
import { isEmpty } from './value.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** What this field manager has applied to the object; undefined when it never did. */
export function ownFields(object: KubeObject, fieldManager: string): ManagedFields['fieldsV1'] {
  return object.metadata.managedFields?.find(
    (entry) => entry.manager === fieldManager && entry.operation === 'Apply' && entry.fieldsV1 !== undefined,
  )?.fieldsV1;
}

/** What other managers hold of these entries, but for the status, which is nobody's wish. */
export function otherFields(
  entries: readonly ManagedFields[] | undefined,
  isOurs: (manager: string) => boolean,
): readonly OtherFields[] {
  return (entries ?? []).flatMap(({ manager, subresource, fieldsV1 }) => {
    if (manager === undefined || isOurs(manager) || subresource === 'status') return [];
    const { 'f:status': _, ...fields } = fieldsV1 ?? {};
    return isEmpty(fields) ? [] : [{ manager, fields }];
  });
}

/** An object as it was read, the way the cache would hold it. */
export function toLive(object: KubeObject, fieldManager: string): Live {
  const fields = ownFields(object, fieldManager);
  const others = otherFields(object.metadata.managedFields, (manager) => manager === fieldManager);
  return {
    object,
    ...(fields === undefined ? {} : { fields }),
    ...(others.length === 0 ? {} : { others }),
  };
}

/** The node below, or undefined when it is not owned. */
export function childFields(fields: Fields | undefined, step: string): Fields | undefined {
  const child = fields?.[step];
  return typeof child === 'object' && child !== null ? (child as Fields) : undefined;
}

/** True when the node has no children: what stands there is owned as a whole. */
export function isLeaf(fields: Fields): boolean {
  for (const step in fields) if (step !== '.') return false;
  return true;
}

/** Names of the fields that are owned below a node. */
export function fieldNames(fields: Fields): string[] {
  return Object.keys(fields).flatMap((step) => (step.startsWith('f:') ? [step.slice(2)] : []));
}

/** An owned item of an associative list. */
export interface KeyedItem {
  readonly key: Readonly<Record<string, unknown>>;
  readonly fields: Fields;
}

/** The owned items of an associative list; empty when the node is none. */
export function keyedItems(fields: Fields): KeyedItem[] {
  const items: KeyedItem[] = [];
  for (const step of Object.keys(fields)) {
    if (!step.startsWith('k:')) continue;
    items.push({ key: JSON.parse(step.slice(2)) as Record<string, unknown>, fields: childFields(fields, step) ?? {} });
  }
  return items;
}

/** The owned members of a set; empty when the node is none. */
export function setMembers(fields: Fields): unknown[] {
  return Object.keys(fields).flatMap((step) => (step.startsWith('v:') ? [JSON.parse(step.slice(2)) as unknown] : []));
}
