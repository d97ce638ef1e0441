/**
 * The difference between two JSON values as a JSON Patch (RFC 6902), as short as is cheap to find: a change deep inside does
 * not replace what is around it, and an item that was added to a list does not rewrite the ones after it.
 */
import type { PlainMap } from '../plan/value.ts';
import { isMap, isSame } from '../plan/value.ts';

export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** Lists longer than this are compared item by item: finding what moved costs the product of their lengths. */
const longestAligned = 300;

/** The operations that make `to` out of `from`; none when they are the same. `path` is where both stand, as a JSON Pointer. */
export function toJsonPatch(from: unknown, to: unknown, path = ''): PatchOperation[] {
  if (isSame(from, to)) return [];
  const whole: PatchOperation[] = [{ op: 'replace', path, value: to }];
  const parts =
    isMap(from) && isMap(to)
      ? mapPatch(from, to, path)
      : Array.isArray(from) && Array.isArray(to)
        ? listPatch(from, to, path)
        : undefined;
  if (parts === undefined) return whole;
  return JSON.stringify(parts).length < JSON.stringify(whole).length ? parts : whole;
}

function mapPatch(from: PlainMap, to: PlainMap, path: string): PatchOperation[] {
  const at = (key: string) => `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const operations: PatchOperation[] = [];
  for (const [key, value] of Object.entries(from)) {
    if (value !== undefined && !has(to, key)) operations.push({ op: 'remove', path: at(key) });
  }
  for (const [key, value] of Object.entries(to)) {
    if (value === undefined) continue;
    if (has(from, key)) operations.push(...toJsonPatch(from[key], value, at(key)));
    else operations.push({ op: 'add', path: at(key), value });
  }
  return operations;
}

function listPatch(from: readonly unknown[], to: readonly unknown[], path: string): PatchOperation[] {
  const operations: PatchOperation[] = [];
  let position = 0;
  for (const run of align(from, to)) {
    if (run.same) {
      position += run.from.length;
      continue;
    }
    const changed = Math.min(run.from.length, run.to.length);
    for (let i = 0; i < changed; i += 1, position += 1)
      operations.push(...toJsonPatch(run.from[i], run.to[i], `${path}/${position}`));
    for (let i = changed; i < run.from.length; i += 1) operations.push({ op: 'remove', path: `${path}/${position}` });
    for (let i = changed; i < run.to.length; i += 1, position += 1)
      operations.push({ op: 'add', path: `${path}/${position}`, value: run.to[i] });
  }
  return operations;
}

interface Run {
  readonly same: boolean;
  readonly from: readonly unknown[];
  readonly to: readonly unknown[];
}

/** Cuts two lists into runs that are the same in both and runs that differ, by their longest common subsequence. */
function align(from: readonly unknown[], to: readonly unknown[]): Run[] {
  let head = 0;
  while (head < from.length && head < to.length && isSame(from[head], to[head])) head += 1;
  let tail = 0;
  while (
    tail < from.length - head &&
    tail < to.length - head &&
    isSame(from[from.length - 1 - tail], to[to.length - 1 - tail])
  )
    tail += 1;
  const a = from.slice(head, from.length - tail);
  const b = to.slice(head, to.length - tail);
  const runs: Run[] = [{ same: true, from: from.slice(0, head), to: to.slice(0, head) }];
  if (a.length > longestAligned || b.length > longestAligned) return [...runs, { same: false, from: a, to: b }];

  const lengths = commonLengths(a, b);
  let [i, j, iStart, jStart] = [0, 0, 0, 0];
  while (i < a.length && j < b.length) {
    if (isSame(a[i], b[j])) {
      runs.push(
        { same: false, from: a.slice(iStart, i), to: b.slice(jStart, j) },
        { same: true, from: [a[i]], to: [b[j]] },
      );
      i += 1;
      j += 1;
      [iStart, jStart] = [i, j];
    } else if ((lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0)) i += 1;
    else j += 1;
  }
  return [...runs, { same: false, from: a.slice(iStart), to: b.slice(jStart) }];
}

/** `lengths[i][j]`: how long the longest common subsequence of `a` from i and `b` from j is. */
function commonLengths(a: readonly unknown[], b: readonly unknown[]): number[][] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = lengths[i] ?? [];
    const below = lengths[i + 1] ?? [];
    for (let j = b.length - 1; j >= 0; j -= 1) {
      row[j] = isSame(a[i], b[j]) ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}

function has(map: PlainMap, key: string): boolean {
  return Object.hasOwn(map, key) && map[key] !== undefined;
}
