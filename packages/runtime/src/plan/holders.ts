/**
 * Who holds a field instead of us. Answered by `metadata.managedFields` alone, as of the very version that is compared: the manager
 * that holds this field now, never the one that wrote last. Where a field was removed nobody holds it, so nobody is named.
 */
import type { Live } from '../cache/store.ts';
import { childFields, type Fields, isLeaf, keyedItems } from './fields.ts';
import type { Path } from './path.ts';
import { isSame } from './value.ts';

/** What stands for a manager that the cluster does not name. */
const unnamed = 'somebody else';

/** Who took this field from us, in words; undefined when we hold it, or never did and nobody else does. */
export function takenBy(live: Live, path: Path): string | undefined {
  if (isHeld(live.fields, path)) return undefined;
  const managers = (live.others ?? []).filter(({ fields }) => isHeld(fields, path)).map(({ manager }) => manager);
  if (managers.length > 0) return [...new Set(managers)].sort().join(', ');
  return isHeld(live.former, path) ? unnamed : undefined;
}

/** True when another manager holds what stands here as one value: an atomic list or map, of which nobody can hold a part. */
export function isTakenWhole(live: Live, path: Path): boolean {
  return (live.others ?? []).some(({ fields }) => {
    const found = nodeAt(fields, path);
    return found !== undefined && isLeaf(found.node);
  });
}

/** A field is held by who holds it itself or, as one value, something that it is a part of. */
function isHeld(fields: Fields | undefined, path: Path): boolean {
  const found = fields === undefined ? undefined : nodeAt(fields, path);
  return found !== undefined && (found.at === 'above' || isLeaf(found.node) || '.' in found.node);
}

interface Found {
  readonly node: Fields;
  /** The node of the path itself, or one above it that is held as a whole. */
  readonly at: 'path' | 'above';
}

function nodeAt(fields: Fields, path: Path): Found | undefined {
  const up = path.up === undefined ? ({ node: fields, at: 'path' } as const) : nodeAt(fields, path.up);
  if (up === undefined || up.at === 'above') return up;
  // The root is a leaf only when nothing at all is held.
  if (path.up !== undefined && isLeaf(up.node)) return { node: up.node, at: 'above' };
  const node = path.key === undefined ? childFields(up.node, stepOf(path)) : itemAt(up.node, path.key);
  return node === undefined ? undefined : { node, at: 'path' };
}

/** As it is written in a field set, where a position has no name. */
function stepOf({ name, member }: Path): string {
  return member === undefined ? `f:${name}` : `v:${member}`;
}

/** The item with this key, of which the server may have filled in a part (the `protocol` of a port). */
function itemAt(fields: Fields, key: NonNullable<Path['key']>): Fields | undefined {
  const fitting = keyedItems(fields).filter((item) =>
    Object.keys(key).every((name) => isSame(item.key[name], key[name])),
  );
  return fitting.length === 1 ? fitting[0]?.fields : undefined;
}
