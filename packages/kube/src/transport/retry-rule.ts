/**
 * When a failed attempt may be repeated, and after how long. One pure function, so that the rule can be read and tested:
 *
 *   not sent (connection refused, DNS, handshake broken)     any request, 3 times
 *   sent, then the connection broke                          only what may be carried out twice: reads, server-side apply
 *   429                                                      any request (the server refused to begin), 9 times
 *   503 with Retry-After                                     any request (the server refused to begin), 9 times
 *   500, 502, 503, 504                                       only what may be carried out twice, 3 times
 *
 * Retry-After is a lower bound, with jitter above it; without one the delay doubles from 100 ms.
 */
import { backoffDelay } from '../clock.ts';

export type Attempt =
  | { readonly lost: 'unsent' | 'sent' }
  | { readonly status: number; readonly retryAfterMs?: number };

export interface RetryContext {
  /** Reads and server-side apply: the second time changes nothing. */
  readonly repeatable: boolean;
  /** How many attempts have failed before this one. */
  readonly failed: number;
  readonly random: number;
}

const brokenRetries = 3;
const refusedRetries = 9;

/** Milliseconds to wait before the next attempt, or undefined when this failure is final. */
export function retryDelay(attempt: Attempt, context: RetryContext): number | undefined {
  if ('lost' in attempt) {
    const allowed = attempt.lost === 'unsent' || context.repeatable;
    return allowed && context.failed < brokenRetries ? backoff(context) : undefined;
  }
  const { status, retryAfterMs } = attempt;
  const refused = status === 429 || (status === 503 && retryAfterMs !== undefined);
  const broken = context.repeatable && (status === 500 || status === 502 || status === 503 || status === 504);
  if (!(refused && context.failed < refusedRetries) && !(broken && context.failed < brokenRetries)) return undefined;
  if (retryAfterMs === undefined) return backoff(context);
  // Up to a quarter more, so that those who were turned away together do not come back together.
  return Math.round(retryAfterMs * (1 + 0.25 * context.random) + 50 * context.random);
}

function backoff(context: RetryContext): number {
  return backoffDelay(context.failed, { initialMs: 100, maxMs: 5_000 }, context.random);
}

/** Milliseconds that a Retry-After header asks for: seconds, or a date. */
export function parseRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
  const value = Array.isArray(header) ? header[0] : header;
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
