/**
 * What to do about whatever a reconcile threw, by the table of faults: the one place in the runtime that catches.
 * Pure: the controller carries it out.
 */
import { type Fault, isFault } from '@keelson/kube';
import { type Backoff, FAST, SLOW } from '../queue/backoff.ts';

export type Verdict =
  /** Again, later each time. */
  | { readonly do: 'retry'; readonly backoff: Backoff; readonly atLeastMs: number; readonly fault: Fault }
  /** The same call would fail the same way: not before something changes. */
  | { readonly do: 'wait'; readonly fault: Fault }
  /** The process cannot go on. */
  | { readonly do: 'exit'; readonly fault: Fault }
  /** Not a fault: a bug in the operator or in Keelson. */
  | { readonly do: 'retry-bug'; readonly backoff: Backoff };

/** How to go on after a reconcile has thrown this. */
export function judgeFailure(error: unknown): Verdict {
  if (!isFault(error)) return { do: 'retry-bug', backoff: FAST };
  const atLeastMs = error.details.retryAfterMs ?? 0;
  switch (error.retry) {
    case 'backoff':
      return { do: 'retry', backoff: FAST, atLeastMs, fault: error };
    case 'slow':
      return { do: 'retry', backoff: SLOW, atLeastMs, fault: error };
    case 'never':
      return { do: 'wait', fault: error };
    case 'exit':
      return { do: 'exit', fault: error };
  }
}
