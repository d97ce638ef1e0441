/** A clock for tests: time passes only by sleeping, and a sleep takes no time. */
import type { Clock } from '../clock.ts';

export interface StepClock extends Clock {
  /** Every sleep that was asked for, in milliseconds. */
  readonly slept: number[];
  advance(ms: number): void;
}

export function createStepClock(random = 0.5): StepClock {
  let now = Date.parse('2030-01-01T00:00:00Z');
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    monotonic: () => now,
    random: () => random,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
    advance(ms) {
      now += ms;
    },
  };
}
