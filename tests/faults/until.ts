/** Waits for something to be so in a cluster, and fails the test when it takes too long. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

export async function until(isSo: () => Promise<boolean>, withinMs = 20_000, everyMs = 50): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > end) expect.fail(`not so after ${withinMs / 1_000} s`);
    await sleep(everyMs);
  }
}
