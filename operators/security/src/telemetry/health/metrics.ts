/**
 * What a collector tells about itself, as Prometheus scrapes it: the text format, version 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/).
 *
 * Invariant: never throws. What is not a sample is left out: a figure that we cannot read is one that we do not know.
 */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const LABEL = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(,?)/y;
/** A value, and a time that nobody here asks for. */
const VALUE = /^\s+([^\s]+)(?:\s+-?\d+)?\s*$/;

/** The samples with these names, in the order of the text. `isWanted` is asked first: most of a text is buckets of histograms. */
export function parseMetrics(text: string, isWanted: (name: string) => boolean): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const [name] = NAME.exec(line) ?? [];
    if (name === undefined || !isWanted(name)) return [];
    const sample = parseSample(name, line);
    return sample === undefined ? [] : [sample];
  });
}

function parseSample(name: string, line: string): Sample | undefined {
  const labels: Record<string, string> = {};
  let at = name.length;
  if (line[at] === '{') {
    at += 1;
    let isMore = true;
    while (isMore) {
      LABEL.lastIndex = at;
      const [whole = '', label, value, comma] = LABEL.exec(line) ?? [];
      if (label !== undefined && value !== undefined) labels[label] = unescaped(value);
      at += whole.length;
      isMore = comma === ',';
    }
    if (line[at] !== '}') return undefined;
    at += 1;
  }
  const [, number] = VALUE.exec(line.slice(at)) ?? [];
  const value = number === undefined ? Number.NaN : Number(number);
  // Counts of things are finite; `NaN` and `+Inf` say that there is no figure.
  return Number.isFinite(value) ? { name, labels, value } : undefined;
}

function unescaped(value: string): string {
  return value.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
}
