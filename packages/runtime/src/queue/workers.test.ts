import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../testing/simulated-clock.ts';
import { createQueue } from './queue.ts';
import { createWorkers } from './workers.ts';

describe('workers', () => {
  it('work on as many keys at once as they may, each key alone, and miss none', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(
          fc.record({
            key: fc.constantFrom('a', 'b', 'c', 'd'),
            at: fc.integer({ min: 0, max: 50 }),
            takes: fc.integer({ min: 0, max: 20 }),
          }),
          {
            maxLength: 30,
          },
        ),
        async (concurrency, adds) => {
          const clock = createSimulatedClock();
          const queue = createQueue({ clock });
          const running = new Set<string>();
          const lastStart = new Map<string, number>();
          let most = 0;
          const workers = createWorkers({
            queue,
            concurrency,
            clock,
            async work(key) {
              expect(running.has(key)).toBe(false);
              running.add(key);
              lastStart.set(key, clock.monotonic());
              most = Math.max(most, running.size);
              await clock.sleep(adds.find((add) => add.key === key)?.takes ?? 0);
              running.delete(key);
            },
          });
          workers.start();
          for (const add of adds) void clock.sleep(add.at).then(() => queue.add(add.key));
          await clock.advance(5_000);

          for (const add of adds) expect(lastStart.get(add.key)).toBeGreaterThanOrEqual(add.at);
          expect(most).toBeLessThanOrEqual(concurrency);
          expect(await workers.stop(0)).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('let what runs finish when they are stopped, and take nothing more', async () => {
    const clock = createSimulatedClock();
    const queue = createQueue({ clock });
    const finished: string[] = [];
    const workers = createWorkers({
      queue,
      concurrency: 1,
      clock,
      async work(key) {
        await clock.sleep(100);
        finished.push(key);
      },
    });
    workers.start();
    queue.add('a');
    queue.add('b');
    const stopped = workers.stop(1_000);
    await clock.advance(100);
    expect(await stopped).toEqual([]);
    expect(finished).toEqual(['a']);
    workers.start();
    await clock.advance(100);
    expect(finished).toEqual(['a', 'b']);
  });

  it('abort what runs at the deadline, and name what ignores that', async () => {
    const clock = createSimulatedClock();
    const queue = createQueue({ clock });
    let aborted = false;
    const workers = createWorkers({
      queue,
      concurrency: 2,
      clock,
      async work(key, signal) {
        if (key === 'deaf') return new Promise(() => {});
        await clock.sleep(60_000, signal).catch(() => {
          aborted = true;
        });
      },
    });
    workers.start();
    queue.add('deaf');
    queue.add('good');
    const stopped = workers.stop(500);
    await clock.advance(499);
    expect(aborted).toBe(false);
    await clock.advance(1_001);
    expect(aborted).toBe(true);
    expect(await stopped).toEqual(['deaf']);
    workers.start();
    queue.add('deaf');
    expect(queue.take()).toBeUndefined();
  });

  it('go on with others when the work on one key never ends', async () => {
    const clock = createSimulatedClock();
    const queue = createQueue({ clock });
    const finished: string[] = [];
    const workers = createWorkers({
      queue,
      concurrency: 1,
      clock,
      async work(key, _signal, giveUp) {
        if (key !== 'endless') return void finished.push(key);
        await clock.sleep(100);
        giveUp();
        await new Promise(() => {});
      },
    });
    workers.start();
    queue.add('endless');
    queue.add('other');
    await clock.advance(99);
    expect(finished).toEqual([]);
    await clock.advance(1);
    expect(finished).toEqual(['other']);
    queue.add('endless');
    queue.add('third');
    expect(queue.depth()).toBe(0);
    await clock.advance(1);
    expect(finished).toEqual(['other', 'third']);
  });
});
