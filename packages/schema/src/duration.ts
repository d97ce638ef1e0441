/** A length of time as people write it: `500ms`, `30s`, `5m`, `1h`. Checked by the compiler, parsed once. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h'}`;

const unit = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Milliseconds in a duration; throws a RangeError that names the value when it is not one. */
export function toMilliseconds(duration: Duration): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(duration);
  if (match === null) throw new RangeError(`'${duration}' is not a duration: write for example 500ms, 30s, 5m or 1h`);
  return Number(match[1]) * unit[match[2] as keyof typeof unit];
}
