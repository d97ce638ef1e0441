/**
 * The list of features is a TypeScript file: an import and a line for each, both in the order of the alphabet. Adds one to it and
 * leaves everything else as it is. Pure.
 */
import type { FeatureNames } from './feature-names.ts';

const importLine = /^import \{ \w+ \} from '(\.\/[^']+\/feature\.ts)';$/;
const entryLine = /^ {2}(\w+),$/;

/** The text with the feature in it; undefined where it is not such a list. */
export function withFeature(text: string, { folder, value }: FeatureNames): string | undefined {
  const lines = text.split('\n');
  const opening = lines.findIndex((line) => line.endsWith('featureList(['));
  const closing = lines.indexOf(']);', opening);
  const lastImport = lines.findLastIndex((line) => line.startsWith('import '));
  if (opening < 0 || closing < 0 || lastImport < 0) return undefined;
  const path = `./${folder}/feature.ts`;
  const entryAt = placeOf(lines, entryLine, value, [opening + 1, closing]);
  const importAt = placeOf(lines, importLine, path, [0, lastImport + 1]);
  return lines
    .toSpliced(entryAt, 0, `  ${value},`)
    .toSpliced(importAt, 0, `import { ${value} } from '${path}';`)
    .join('\n');
}

/** Before the first that comes later in the alphabet, or at the end. */
function placeOf(
  lines: readonly string[],
  pattern: RegExp,
  key: string,
  [from, to]: readonly [number, number],
): number {
  const later = lines.slice(from, to).findIndex((line) => {
    const found = pattern.exec(line)?.[1];
    return found !== undefined && found > key;
  });
  return later < 0 ? to : from + later;
}

/** A name that the file uses already, for this or for something else. */
export function isTaken(text: string, { value }: FeatureNames): boolean {
  return new RegExp(`\\b${value}\\b`).test(text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''));
}
