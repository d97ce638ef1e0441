/** A table as kubectl prints them: upper-case heads, columns as wide as their content, no lines. */
import { widthOf } from './palette.ts';

/** Rows of cells under heads; a cell may hold colours. With `columns`, the last cell of a row is cut to fit. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
): string {
  const lines = [heads, ...rows];
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column] ?? ''))));
  return lines
    .map((line) => {
      const cells = heads.map((_, column) => {
        const cell = line[column] ?? '';
        return column === heads.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell));
      });
      return cut(cells.join('   ').trimEnd(), columns);
    })
    .map((line) => `${line}\n`)
    .join('');
}

/** Colours cannot be cut through, so a line that is too long loses the end of its last, plain part. */
function cut(line: string, columns: number): string {
  const over = widthOf(line) - columns;
  if (over <= 0) return line;
  const end = [...line].slice(-over - 1).join('');
  return end.includes('\u001b') ? line : `${[...line].slice(0, -over - 1).join('')}…`;
}
