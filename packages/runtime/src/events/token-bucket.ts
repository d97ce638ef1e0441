/** Token buckets: something may happen this often in a burst, and this often in the long run, for each name. */
import type { Clock } from '../clock.ts';

export interface TokenBuckets {
  /** Takes a token of this name; false when there is none. */
  take(name: string): boolean;
}

/** Beyond this many names the full buckets are forgotten: a full bucket is one that nobody has used of late. */
const SWEEP_AT = 4_096;

export function createTokenBuckets(clock: Clock, burst: number, refillMs: number): TokenBuckets {
  const buckets = new Map<string, { tokens: number; at: number }>();

  function sweep(now: number): void {
    for (const [name, bucket] of buckets) if (now - bucket.at > burst * refillMs) buckets.delete(name);
  }

  return {
    take(name) {
      const now = clock.monotonic();
      if (buckets.size > SWEEP_AT) sweep(now);
      const known = buckets.get(name) ?? { tokens: burst, at: now };
      const tokens = Math.min(burst, known.tokens + (now - known.at) / refillMs);
      buckets.set(name, { tokens: Math.max(0, tokens - 1), at: now });
      return tokens >= 1;
    },
  };
}
