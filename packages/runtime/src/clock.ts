/** Timers on the one clock of the project. */
import type { Clock } from '@keelson/kube';

export { type Clock, systemClock } from '@keelson/kube';

/** The longest delay that a timer of the platform takes; longer ones would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Calls `action` once after `ms`; the returned function cancels it. */
export function after(clock: Clock, ms: number, action: () => void): () => void {
  const cancelled = new AbortController();
  clock.sleep(Math.min(Math.max(0, ms), LONGEST_TIMER_MS), cancelled.signal).then(action, () => {
    if (!cancelled.signal.aborted) throw new Error('a clock may reject a sleep only when its signal is aborted');
  });
  return () => cancelled.abort();
}
