/**
 * The strategic merge patch of Kubernetes on plain data: what `kubectl patch` does to a pod template, here without a server. Maps are
 * merged by field and null takes a field away; lists are replaced, but for those with a merge key (pod-fields.ts).
 * Directives: `$patch: delete` and `$patch: replace`, `$retainKeys`, `$setElementOrder/<list>`, `$deleteFromPrimitiveList/<list>`.
 *
 * Invariant: pure and total; what it is given is never changed. A patch should have passed check-patch.ts: what is wrong in it has
 * no effect here or a literal one, and no message. server.test.ts compares the result with a real API server's. Two differences are
 * meant: in an item that is new a server stores directives as if they were fields, and of `probe: {$patch: delete}` it leaves an empty
 * probe, which it refuses; here the first are directives, and the second takes the field away.
 * Semantics: k8s.io/apimachinery, pkg/util/strategicpatch.
 */
import { checkValue } from './check-value.ts';
import type { FieldType } from './field-type.ts';
import { inOrder, keyOf, positions } from './list-order.ts';
import { isMap, type PlainMap } from './plain.ts';
import { podFields } from './pod-fields.ts';

export const DIRECTIVE = '$patch';
export const RETAIN_KEYS = '$retainKeys';
export const SET_ELEMENT_ORDER = '$setElementOrder/';
export const DELETE_FROM_LIST = '$deleteFromPrimitiveList/';

/** The value with the patch merged into it; `type` names the object that both are, in the table of pod fields. */
export function strategicMerge(value: PlainMap, patch: PlainMap, type: string): PlainMap {
  if (patch[DIRECTIVE] === 'delete') return {};
  if (patch[DIRECTIVE] === 'replace') return withoutDirectives(patch);
  const types = podFields.get(type)?.fields;
  const fields = new Map(Object.entries(retained(value, patch[RETAIN_KEYS])));
  for (const [name, change] of Object.entries(patch)) {
    if (!name.startsWith(DELETE_FROM_LIST)) continue;
    const list = name.slice(DELETE_FROM_LIST.length);
    fields.set(list, without(fields.get(list), change));
  }
  for (const [name, change] of Object.entries(patch)) {
    if (name.startsWith('$')) continue;
    const merged = mergeField(fields.get(name), change, types?.get(name));
    if (merged === undefined) fields.delete(name);
    else fields.set(name, merged);
  }
  for (const [name, order] of Object.entries(patch)) {
    if (!name.startsWith(SET_ELEMENT_ORDER)) continue;
    const list = name.slice(SET_ELEMENT_ORDER.length);
    fields.set(list, ordered(fields.get(list), order, value[list], types?.get(list)));
  }
  return Object.fromEntries([...fields].filter(([, field]) => field !== undefined));
}

/** Undefined takes the field away. */
function mergeField(before: unknown, change: unknown, type: FieldType | undefined): unknown {
  if (change === null || change === undefined || isRemoval(change, type)) return undefined;
  if (isMap(before) && isMap(change)) return strategicMerge(before, change, typeof type === 'string' ? type : '');
  const mergeKey = typeof type === 'object' && 'list' in type ? type.mergeKey : undefined;
  if (Array.isArray(before) && Array.isArray(change) && typeof type === 'object' && mergeKey !== undefined)
    return mergeList(before, change, mergeKey, 'list' in type ? type.list : '');
  return cleaned(change);
}

/** Whether the field is to be deleted and could not be empty instead. */
function isRemoval(change: unknown, type: FieldType | undefined): boolean {
  return isMap(change) && change[DIRECTIVE] === 'delete' && type !== undefined && checkValue({}, type, '').length > 0;
}

function mergeList(before: readonly unknown[], patch: readonly unknown[], mergeKey: string, type: string): unknown[] {
  const directives = patch.filter(hasDirective);
  const changes = patch.filter((item) => !hasDirective(item));
  if (directives.some((item) => item[DIRECTIVE] === 'replace')) return changes.map(cleaned);
  const deleted = new Set(directives.map((item) => keyOf(item, mergeKey)));
  const base = before.filter((item) => !deleted.has(keyOf(item, mergeKey)));
  const merged = [...base];
  const index = new Map(positions(base, mergeKey));
  for (const change of changes) {
    const at = index.get(keyOf(change, mergeKey));
    const found = at === undefined ? undefined : merged[at];
    if (at === undefined) {
      const item = cleaned(change);
      index.set(keyOf(item, mergeKey), merged.length);
      merged.push(item);
    } else if (isMap(found) && isMap(change)) merged[at] = strategicMerge(found, change, type);
  }
  return inOrder(merged, changes, base, mergeKey);
}

function ordered(list: unknown, order: unknown, before: unknown, type: FieldType | undefined): unknown {
  if (!Array.isArray(list) || !Array.isArray(order) || typeof type !== 'object' || 'map' in type) return list;
  return inOrder(list, order, Array.isArray(before) ? before : [], type.mergeKey ?? '');
}

function retained(value: PlainMap, names: unknown): PlainMap {
  if (!Array.isArray(names)) return value;
  const kept = new Set<unknown>(names);
  return Object.fromEntries(Object.entries(value).filter(([name]) => kept.has(name)));
}

function without(list: unknown, items: unknown): unknown {
  if (!Array.isArray(list) || !Array.isArray(items)) return list;
  const gone = new Set<unknown>(items);
  return list.filter((item) => !gone.has(item));
}

function hasDirective(item: unknown): item is PlainMap {
  return isMap(item) && Object.hasOwn(item, DIRECTIVE);
}

/** What a part of a patch means where there is nothing to merge it with; undefined when it is but a directive. */
function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !hasDirective(item)).map(cleaned);
  if (!isMap(value)) return value;
  return hasDirective(value) ? undefined : withoutDirectives(value);
}

function withoutDirectives(patch: PlainMap): PlainMap {
  const fields = Object.entries(patch)
    .filter(([name, value]) => !name.startsWith('$') && value !== null)
    .map(([name, value]) => [name, cleaned(value)] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}
