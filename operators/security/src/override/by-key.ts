/** Lists whose items have a key: how the words of an override are merged into those of a pod. */

/** Items of the same key are replaced where they stand, all others come after. Several of one key in `changes` all stay. */
export function mergeByKey<T>(
  before: readonly T[] | undefined,
  changes: readonly T[],
  keyOf: (item: T) => string,
): readonly T[] {
  const byKey = Map.groupBy(changes, keyOf);
  const replaced = new Set<string>();
  const merged = (before ?? []).flatMap((item) => {
    const key = keyOf(item);
    const changed = byKey.get(key);
    if (changed === undefined) return [item];
    if (replaced.has(key)) return [];
    replaced.add(key);
    return changed;
  });
  return [...merged, ...changes.filter((change) => !replaced.has(keyOf(change)))];
}
