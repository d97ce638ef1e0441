/** How long to wait after a failure: twice as long each time, up to a limit, and never for two keys the same. */
export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** Things that mend by themselves: a conflict, a busy server. */
export const FAST: Backoff = { initialMs: 100, maxMs: 5 * 60_000 };

/** Things that a person has to mend: a missing permission. */
export const SLOW: Backoff = { initialMs: 60_000, maxMs: 10 * 60_000 };
