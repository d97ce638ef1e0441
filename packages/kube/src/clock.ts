/** Time and chance, injected so that retries, back-off and expiry are tested without waiting. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some fixed moment: for measuring, because it never jumps. */
  monotonic(): number;
  /** Resolves after this long; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A number in [0, 1). */
  random(): number;
}

/** The longest delay that a timer of the platform takes, about 25 days; a longer one would fire at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** The machine's own time. A sleep ends at once, and leaves no timer or listener, when its signal is aborted. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const done = () => {
        signal?.removeEventListener('abort', aborted);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, longestTimerMs));
      const aborted = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', aborted, { once: true });
    }),
};

/** Exponential delay with full jitter in its upper half: never zero, never two clients in step. */
export function backoffDelay(attempt: number, backoff: { initialMs: number; maxMs: number }, random: number): number {
  const ceiling = Math.min(backoff.maxMs, backoff.initialMs * 2 ** Math.min(attempt, 30));
  return Math.round(ceiling * (0.5 + 0.5 * random));
}
