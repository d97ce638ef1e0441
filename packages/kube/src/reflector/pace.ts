/** How long a reflector waits after an interruption. */
import { backoffDelay } from '../clock.ts';
import type { Fault } from '../fault.ts';

export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
}

export const defaultBackoff: Backoff = { initialMs: 100, maxMs: 10_000 };

// A person has to act (permission, certificate), so asking often is of no use.
const slowMs = 30_000;
// A CRD usually comes seconds after its operator: the question is cheap, and whoever installs it waits for the answer.
const notServedMs = 5_000;

/** Milliseconds until the next attempt; `attempt` counts from 1 and starts again after a healthy connection. */
export function retryInMs(fault: Fault, attempt: number, backoff: Backoff, random: number): number {
  const maxMs =
    fault.code === 'KindNotServed'
      ? Math.min(notServedMs, backoff.maxMs)
      : fault.retry === 'slow'
        ? Math.max(slowMs, backoff.maxMs)
        : backoff.maxMs;
  const delay = backoffDelay(attempt - 1, { initialMs: backoff.initialMs, maxMs }, random);
  return Math.max(delay, fault.details.retryAfterMs ?? 0);
}
