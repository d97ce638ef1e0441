/** Time for tests: it moves when they say so, and what waits for it runs in order. */
import type { Clock } from '@keelson/kube';

/** A clock that moves only when told to. */
export interface SimulatedClock extends Clock {
  /** Moves time on, firing what falls due in order, and lets promises settle in between. */
  advance(ms: number): Promise<void>;
}

/** A clock for tests; `random` answers the same each time. */
export function createSimulatedClock(start = Date.parse('2026-01-01T00:00:00Z'), random = 0.5): SimulatedClock {
  let elapsed = 0;
  const timers = new Set<{ at: number; fire: () => void }>();

  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    random: () => random,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        const abort = (): void => {
          timers.delete(timer);
          reject(signal?.reason);
        };
        const fire = (): void => {
          signal?.removeEventListener('abort', abort);
          resolve();
        };
        const timer = { at: elapsed + Math.max(0, ms), fire };
        timers.add(timer);
        signal?.addEventListener('abort', abort, { once: true });
      }),
    async advance(ms) {
      const target = elapsed + ms;
      await settle();
      for (;;) {
        const next = [...timers].filter((timer) => timer.at <= target).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers.delete(next);
        elapsed = next.at;
        next.fire();
        await settle();
      }
      elapsed = target;
    },
  };
}

/** Gives every promise that is already on its way the time to settle. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
