/** Which lines of a text change: `-` goes, `+` comes. Lines that stay are left out. Pure. */

/** Beyond this many pairs of lines an exact answer takes too long: everything between the common beginning and end is told. */
const mostPairs = 1_000_000;

export function lineDiff(before: string, after: string): string[] {
  const from = before.split('\n');
  const to = after.split('\n');
  const start = commonStart(from, to);
  const end = commonStart(from.slice(start).reverse(), to.slice(start).reverse());
  const gone = from.slice(start, from.length - end);
  const come = to.slice(start, to.length - end);
  if (gone.length * come.length > mostPairs) return [...gone.map(minus), ...come.map(plus)];
  return walk(gone, come);
}

const minus = (line: string): string => `- ${line}`;
const plus = (line: string): string => `+ ${line}`;

function commonStart(a: readonly string[], b: readonly string[]): number {
  const differs = a.findIndex((line, index) => line !== b[index]);
  return differs < 0 ? Math.min(a.length, b.length) : differs;
}

/** Along a longest common subsequence. */
function walk(gone: readonly string[], come: readonly string[]): string[] {
  const lengths = Array.from({ length: gone.length + 1 }, () => new Uint32Array(come.length + 1));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = gone.length - 1; i >= 0; i -= 1) {
    const row = lengths[i];
    if (row === undefined) continue;
    for (let j = come.length - 1; j >= 0; j -= 1)
      row[j] = gone[i] === come[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < gone.length || j < come.length) {
    const [left, right] = [gone[i], come[j]];
    if (left !== undefined && left === right) [i, j] = [i + 1, j + 1];
    else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(minus(left));
      i += 1;
    } else {
      lines.push(plus(right ?? ''));
      j += 1;
    }
  }
  return lines;
}
