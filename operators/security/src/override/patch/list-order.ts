/** The order of a merged list, as an API server has it. */
import { isMap } from './plain.ts';

/** What tells an item of a merged list from the others: its merge key, or itself in a list of plain values. */
export function keyOf(item: unknown, mergeKey: string): unknown {
  if (mergeKey === '') return item;
  return isMap(item) ? item[mergeKey] : undefined;
}

/**
 * The items that `order` names, in its order, among the others, in the order that they had before. Of two next candidates the one
 * that stood first before comes first; one that is new comes before all that are left.
 */
export function inOrder(
  items: readonly unknown[],
  order: readonly unknown[],
  before: readonly unknown[],
  mergeKey: string,
): unknown[] {
  const wanted = positions(order, mergeKey);
  const former = positions(before, mergeKey);
  const named = items
    .filter((item) => wanted.has(keyOf(item, mergeKey)))
    .sort((a, b) => (wanted.get(keyOf(a, mergeKey)) ?? 0) - (wanted.get(keyOf(b, mergeKey)) ?? 0));
  const others = items.filter((item) => !wanted.has(keyOf(item, mergeKey)));
  const result: unknown[] = [];
  let next = 0;
  for (const item of named) {
    const position = former.get(keyOf(item, mergeKey));
    while (next < others.length && isBefore(former.get(keyOf(others[next], mergeKey)), position))
      result.push(others[next++]);
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

function isBefore(a: number | undefined, b: number | undefined): boolean {
  return a !== undefined && b !== undefined && a < b;
}

/** Where each key first stands. */
export function positions(list: readonly unknown[], mergeKey: string): ReadonlyMap<unknown, number> {
  const first = new Map<unknown, number>();
  for (const [index, item] of list.entries()) {
    const key = keyOf(item, mergeKey);
    if (!first.has(key)) first.set(key, index);
  }
  return first;
}
