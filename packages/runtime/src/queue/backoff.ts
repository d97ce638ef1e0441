/** How long to wait after a failure: twice as long each time, up to a limit, and never for two keys the same. */
export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** Things that mend by themselves: a conflict, a busy server. */
export const FAST: Backoff = { initialMs: 100, maxMs: 5 * 60_000 };

/** Things that a person has to mend: a missing permission. */
export const SLOW: Backoff = { initialMs: 60_000, maxMs: 10 * 60_000 };

/** The delay after this many earlier failures; `random` in [0, 1) spreads it over its upper half. */
export function backoffDelayMs(backoff: Backoff, failures: number, random: number): number {
  const ceiling = Math.min(backoff.maxMs, backoff.initialMs * 2 ** Math.min(failures, 30));
  return ceiling * (0.5 + 0.5 * random);
}
