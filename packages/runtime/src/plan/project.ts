/** Projection: the part of a live value that a field set covers, in the shape in which it could be applied again. */
import { childFields, type Fields, fieldNames, isLeaf, keyedItems, setMembers } from './fields.ts';
import { isMap, isSame } from './value.ts';

/** What of this value is owned; undefined when nothing is. */
export function project(value: unknown, fields: Fields | undefined): unknown {
  if (fields === undefined || value === undefined) return undefined;
  if (isLeaf(fields)) return value;
  if (isMap(value)) {
    const kept: Record<string, unknown> = {};
    for (const name of fieldNames(fields)) {
      const item = project(value[name], childFields(fields, `f:${name}`));
      if (item !== undefined) kept[name] = item;
    }
    return kept;
  }
  if (!Array.isArray(value)) return value;
  const items = keyedItems(fields);
  const members = setMembers(fields);
  return value.flatMap((item: unknown) => {
    if (members.some((member) => isSame(member, item))) return [item];
    const entry = items.find(
      ({ key }) => isMap(item) && Object.keys(key).every((name) => isSame(item[name], key[name])),
    );
    if (entry === undefined || !isMap(item)) return [];
    // The key fields always go along: without them it would be another item.
    return [{ ...entry.key, ...(isLeaf(entry.fields) ? item : (project(item, entry.fields) as object)) }];
  });
}
