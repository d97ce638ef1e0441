/** Lists: plain, sets (each item once) and maps (each key once), as the API server and server-side apply know them. */
import { carry, fail, type Node, type Place, type Rewrite, type StructuralSchema } from './schema.ts';

/** A list, and what makes its items unique. */
export function rewriteArray(node: Node, place: Place, rewrite: Rewrite): StructuralSchema {
  const listType = node['x-kubernetes-list-type'] ?? (node.uniqueItems === true ? 'set' : undefined);
  const below = { ...place, path: `${place.path}[]`, correlatable: place.correlatable && listType === 'map' };
  const items = rewrite(node.items, below);
  if (listType === 'set') {
    const atomic =
      items.type === 'object'
        ? items['x-kubernetes-map-type'] === 'atomic'
        : items.type !== 'array' || (items['x-kubernetes-list-type'] ?? 'atomic') === 'atomic';
    if (!atomic)
      fail(place, 'a set of objects cannot be expressed in a CRD', 'Use listMap(item, keys), which is unique by key');
    if (items.nullable === true) fail(place, 'the items of a set cannot be null', 'Leave Type.Null out');
  }
  if (listType === 'map') checkListMap(items, (node['x-kubernetes-list-map-keys'] ?? []) as readonly string[], place);
  return {
    type: 'array',
    items,
    ...carry(node, ['minItems', 'maxItems', 'x-kubernetes-list-map-keys']),
    ...(listType === undefined ? {} : { 'x-kubernetes-list-type': listType as 'map' | 'set' | 'atomic' }),
  };
}

function checkListMap(items: StructuralSchema, keys: readonly string[], place: Place): void {
  if (items.type !== 'object' || items.nullable === true)
    fail(place, 'the items of a listMap must be objects, and never null', 'Use Type.Array, or objects as items');
  if (keys.length === 0)
    fail(place, 'a listMap has no keys', "Name the fields that identify an item: listMap(item, ['name'])");
  for (const key of keys) {
    const field = items.properties?.[key];
    if (field === undefined)
      fail(place, `the listMap's key '${key}' is not a field of its items`, 'Correct the name, or add the field');
    if (field.type === 'object' || field.type === 'array' || field.nullable === true)
      fail(
        place,
        `the listMap's key '${key}' is not a plain value`,
        'Use a string, number or boolean that is never null',
      );
    if (field.default === undefined && !items.required?.includes(key))
      fail(place, `the listMap's key '${key}' is optional`, 'Make it required, or give it a default');
  }
}
