/**
 * Matches the items of an associative list: which wanted item is which owned one and which live one. The key fields come
 * from the field set; a wanted item may leave one out that the server defaults (the `protocol` of a port).
 */
import { type Fields, keyedItems } from './fields.ts';
import { isMap, isSame, type PlainMap } from './value.ts';

export interface Match {
  readonly key: PlainMap;
  readonly wanted: PlainMap | undefined;
  readonly live: PlainMap | undefined;
  readonly fields: Fields | undefined;
}

export interface Matches {
  readonly items: readonly Match[];
  /** The wanted items that are there stand in the wanted order. */
  readonly ordered: boolean;
}

/** Every item that is wanted or owned; undefined when the list is not one of maps with keys. */
export function matchItems(wanted: readonly unknown[], live: readonly unknown[], fields: Fields): Matches | undefined {
  const owned = keyedItems(fields);
  const names = Object.keys(owned[0]?.key ?? {});
  if (names.length === 0 || !wanted.every(isMap)) return undefined;

  const liveItems = live.filter(isMap);
  const free = new Set(owned);
  const take = (item: PlainMap, whole: boolean) => {
    for (const entry of free) {
      if (!fits(item, entry.key, names, whole)) continue;
      free.delete(entry);
      return entry;
    }
    return undefined;
  };
  // Items with their whole key come first, so that one without a protocol takes what is left over for it.
  const exact = new Map(wanted.map((item) => [item, take(item, true)]));
  const items = wanted.map((item): Match => {
    const entry = exact.get(item) ?? take(item, false);
    const key = entry?.key ?? keyOf(item, names);
    return {
      key,
      wanted: item,
      live: liveItems.find((there) => fits(there, key, Object.keys(key), true)),
      fields: entry?.fields,
    };
  });
  for (const entry of free) {
    const there = liveItems.find((item) => fits(item, entry.key, names, true));
    items.push({ key: entry.key, wanted: undefined, live: there, fields: entry.fields });
  }
  const positions = items.flatMap((item) => (item.wanted && item.live ? [liveItems.indexOf(item.live)] : []));
  return { items, ordered: positions.every((position, i) => i === 0 || position > (positions[i - 1] ?? -1)) };
}

function fits(item: PlainMap, key: PlainMap, names: readonly string[], whole: boolean): boolean {
  return names.every((name) => isSame(item[name], key[name]) || (!whole && item[name] === undefined));
}

function keyOf(item: PlainMap, names: readonly string[]): PlainMap {
  return Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])));
}
