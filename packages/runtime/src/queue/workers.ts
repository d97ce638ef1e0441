/**
 * The workers that empty a queue: up to `concurrency` keys at once, each with a signal that is aborted when time is up.
 *
 * Invariant: after `stop` has resolved with nothing left, nothing runs. A key whose work ignores its signal stays marked as
 * running, so that not even a restart of the workers runs it twice at once.
 */
import { after, type Clock } from '../clock.ts';
import type { Key } from '../key.ts';
import type { Queue } from './queue.ts';

export interface WorkersOptions {
  readonly queue: Queue;
  readonly concurrency: number;
  readonly clock: Clock;
  /** Must not reject: it is the one place that catches. `giveUp` frees the worker for others; the key still counts as running. */
  readonly work: (key: Key, signal: AbortSignal, giveUp: () => void) => Promise<void>;
}

export interface Workers {
  /** How many keys are being worked on. */
  readonly active: number;
  start(): void;
  /** Takes no more keys, lets those that run finish until the deadline, then aborts them. Answers the keys that run on regardless. */
  stop(deadlineMs: number): Promise<readonly Key[]>;
}

/** How long aborted work has to notice. */
const ABORT_GRACE_MS = 1_000;

export function createWorkers({ queue, concurrency, clock, work }: WorkersOptions): Workers {
  const active = new Map<Key, AbortController>();
  /** Active keys whose work does not end and that hold up nobody any more. */
  const givenUp = new Set<Key>();
  const idle: (() => void)[] = [];
  let taking = false;

  async function run(key: Key): Promise<void> {
    const controller = new AbortController();
    active.set(key, controller);
    try {
      await work(key, controller.signal, () => {
        givenUp.add(key);
        pump();
      });
    } finally {
      active.delete(key);
      givenUp.delete(key);
      queue.done(key);
      pump();
      if (active.size === 0) for (const resolve of idle.splice(0)) resolve();
    }
  }

  function pump(): void {
    while (taking && active.size - givenUp.size < concurrency) {
      const key = queue.take();
      if (key === undefined) return;
      void run(key);
    }
  }

  function whenIdle(withinMs: number): Promise<void> {
    if (active.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = after(clock, withinMs, resolve);
      idle.push(() => {
        cancel();
        resolve();
      });
    });
  }

  return {
    get active() {
      return active.size;
    },
    start() {
      taking = true;
      queue.onReady(pump);
      pump();
    },
    async stop(deadlineMs) {
      taking = false;
      await whenIdle(deadlineMs);
      for (const controller of active.values()) controller.abort(new Error('the worker is being stopped'));
      await whenIdle(ABORT_GRACE_MS);
      return [...active.keys()];
    },
  };
}
