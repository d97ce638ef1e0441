import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../testing/simulated-clock.ts';
import { FAST } from './backoff.ts';
import { createQueue, type Priority, priorities, type Queue } from './queue.ts';

const takeAll = (queue: Queue): string[] => {
  const taken: string[] = [];
  for (let key = queue.take(); key !== undefined; key = queue.take()) {
    taken.push(key);
    queue.done(key);
  }
  return taken;
};

describe('a queue', () => {
  it('holds a key once, and serves first come, first served', () => {
    const queue = createQueue({ clock: createSimulatedClock() });
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect(queue.depth()).toBe(3);
    expect(takeAll(queue)).toEqual(['a', 'b', 'c']);
  });

  it('runs a key again that was added while it ran, but not at the same time', () => {
    const queue = createQueue({ clock: createSimulatedClock() });
    queue.add('a');
    expect(queue.take()).toBe('a');
    queue.add('a');
    expect(queue.take()).toBeUndefined();
    queue.done('a');
    expect(queue.take()).toBe('a');
  });

  it('lets a live change overtake retries, and retries overtake the rest', () => {
    const queue = createQueue({ clock: createSimulatedClock() });
    queue.add('resync', 'background');
    queue.add('again', 'retry');
    queue.add('promoted', 'background');
    queue.add('changed', 'live');
    queue.add('promoted', 'live');
    expect(takeAll(queue)).toEqual(['changed', 'promoted', 'again', 'resync']);
  });

  it('never starves the background, however many live changes come', () => {
    const queue = createQueue({ clock: createSimulatedClock() });
    queue.add('resync', 'background');
    queue.add('again', 'retry');
    const served: string[] = [];
    for (let turn = 0; turn < 30; turn += 1) {
      queue.add(`live-${turn}`);
      const key = queue.take();
      if (key === undefined) break;
      served.push(key);
      queue.done(key);
    }
    expect(served.indexOf('resync')).toBeLessThanOrEqual(10);
    expect(served.indexOf('again')).toBeLessThanOrEqual(10);
  });

  it('makes a key ready at the earliest of its delays', async () => {
    const clock = createSimulatedClock();
    const queue = createQueue({ clock });
    let announced = 0;
    queue.onReady(() => {
      announced += 1;
    });
    queue.addAfter('a', 1_000);
    queue.addAfter('a', 300);
    queue.addAfter('a', 600);
    await clock.advance(299);
    expect(queue.take()).toBeUndefined();
    await clock.advance(1);
    expect(queue.take()).toBe('a');
    queue.done('a');
    await clock.advance(10_000);
    expect(queue.take()).toBeUndefined();
    expect(announced).toBe(1);
  });

  it('keeps a delay that was asked for while the key ran', async () => {
    const clock = createSimulatedClock();
    const queue = createQueue({ clock });
    queue.add('a');
    queue.take();
    queue.addAfter('a', 500);
    queue.done('a');
    expect(queue.delayed).toBe(1);
    await clock.advance(500);
    expect(queue.take()).toBe('a');
  });

  it('lets a live change cut a back-off short', () => {
    const queue = createQueue({ clock: createSimulatedClock() });
    queue.retry('a', FAST);
    queue.add('a');
    expect(queue.take()).toBe('a');
    expect(queue.failures('a')).toBe(1);
  });

  it('backs off per key, twice as long each time, spread and capped, until the key is well', () => {
    const queue = createQueue({ clock: createSimulatedClock(0, 0.999_999) });
    const delays = Array.from({ length: 15 }, () => Math.round(queue.retry('a', FAST)));
    expect(delays.slice(0, 4)).toEqual([100, 200, 400, 800]);
    expect(delays.at(-1)).toBe(FAST.maxMs);
    expect(Math.round(queue.retry('b', FAST))).toBe(100);
    expect(queue.retry('told to wait', FAST, 7_000)).toBe(7_000);
    queue.forget('a');
    expect(Math.round(queue.retry('a', FAST))).toBe(100);
  });

  it('refuses to finish what was not taken', () => {
    const queue = createQueue({ clock: createSimulatedClock() });
    queue.add('a');
    expect(() => queue.done('a')).toThrow("'a' was not taken");
  });

  it('drops everything but what runs when it is cleared', async () => {
    const clock = createSimulatedClock();
    const queue = createQueue({ clock });
    queue.add('runs');
    queue.take();
    queue.add('runs');
    queue.add('waits');
    queue.addAfter('later', 10);
    queue.clear();
    queue.done('runs');
    await clock.advance(1_000);
    expect(queue.take()).toBeUndefined();
  });

  it('tells an observer how long keys waited and ran', async () => {
    const clock = createSimulatedClock();
    const told: string[] = [];
    const queue = createQueue({
      clock,
      observer: {
        added: () => told.push('added'),
        started: (ms) => told.push(`started after ${ms}`),
        finished: (ms) => told.push(`finished after ${ms}`),
        retried: () => told.push('retried'),
      },
    });
    queue.add('a');
    queue.add('a');
    await clock.advance(20);
    queue.take();
    await clock.advance(30);
    expect([...queue.running()]).toEqual([['a', 20]]);
    queue.retry('a', FAST);
    queue.done('a');
    expect(told).toEqual(['added', 'started after 20', 'retried', 'finished after 30']);
  });
});

describe('any sequence of operations', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const operation = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('add' as const), key, priority: fc.constantFrom(...priorities) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('addAfter' as const), key, ms: fc.integer({ min: 0, max: 100 }) }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('done' as const), pick: fc.nat(4) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 60 }) }) },
  );

  it('never runs a key twice at once, never loses an add, and keeps the order of the model', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 60 }), async (operations) => {
        const clock = createSimulatedClock();
        const queue = createQueue({ clock });
        const running: string[] = [];
        /** What the model knows of a key that is asked for: when it is due at the latest. */
        const asked = new Map<string, number>();
        const askedWhileRunning = new Map<string, number>();
        const ask = (name: string, due: number): void => {
          const target = running.includes(name) ? askedWhileRunning : asked;
          target.set(name, Math.min(due, target.get(name) ?? Number.POSITIVE_INFINITY));
        };
        const isReady = (name: string): boolean => (asked.get(name) ?? Number.POSITIVE_INFINITY) <= clock.monotonic();

        for (const step of operations) {
          if (step.do === 'add') {
            queue.add(step.key, step.priority as Priority);
            ask(step.key, clock.monotonic());
          } else if (step.do === 'addAfter') {
            queue.addAfter(step.key, step.ms);
            ask(step.key, clock.monotonic() + step.ms);
          } else if (step.do === 'take') {
            const taken = queue.take();
            const ready = [...asked.keys()].filter(isReady);
            if (taken === undefined) expect(ready).toEqual([]);
            else {
              expect(ready).toContain(taken);
              expect(running).not.toContain(taken);
              running.push(taken);
              asked.delete(taken);
            }
          } else if (step.do === 'done') {
            const [name] = running.splice(step.pick % Math.max(1, running.length), 1);
            if (name === undefined) continue;
            queue.done(name);
            const due = askedWhileRunning.get(name);
            askedWhileRunning.delete(name);
            if (due !== undefined) asked.set(name, due);
          } else {
            await clock.advance(step.ms);
          }
          expect(queue.depth()).toBe([...asked.keys()].filter(isReady).length);
          expect([...queue.running()].map(([name]) => name).sort()).toEqual([...running].sort());
        }

        for (const name of running) queue.done(name);
        for (const name of askedWhileRunning.keys()) asked.set(name, 0);
        await clock.advance(1_000);
        expect(takeAll(queue).sort()).toEqual([...asked.keys()].sort());
        expect(queue.delayed).toBe(0);
      }),
      { numRuns: 500 },
    );
  });
});
