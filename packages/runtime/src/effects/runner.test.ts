import type { KubeObject } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { isOperatorBug, operatorBug } from '../bug.ts';
import { defineEffect, type Effect, type EffectContext } from '../effect.ts';
import { createRedactor } from '../redact.ts';
import { createSimulatedClock } from '../testing/simulated-clock.ts';
import { createEffectRunner } from './runner.ts';

function setUp(handler: (input: { n: number }, context: EffectContext) => unknown) {
  const clock = createSimulatedClock();
  const calls: number[] = [];
  const runner = createEffectRunner({
    operator: {
      name: 'search',
      effects: {
        template: defineEffect<{ n: number }>(async (input, context) => {
          calls.push(input.n);
          return handler(input, context);
        }),
      },
    },
    clock,
  });
  const redactor = createRedactor();
  const stop = new AbortController();
  const context = { read: { find: async () => undefined }, signal: stop.signal };
  const run = (...effects: Effect[]) => runner.run('uid', { effects, context, redactor });
  return { clock, calls, runner, run, redactor, stop };
}
const template = (n: number, more: Partial<Effect> = {}): Effect => ({
  handler: 'template',
  key: 'a',
  input: { n },
  ...more,
});

describe('the effect runner', () => {
  it('runs a new effect once, and not again while nothing changes', async () => {
    const { calls, run, runner } = setUp(() => 'ok');
    expect(await run(template(1))).toEqual({ changed: true, done: true });
    expect(await run(template(1))).toEqual({ changed: false, done: true });
    expect(calls).toEqual([1]);
    expect(runner.outcomes('uid').get('a')).toMatchObject({ state: 'done', result: 'ok' });
  });

  it('runs again when the input changed', async () => {
    const { calls, run } = setUp(() => 'ok');
    await run(template(1));
    expect(await run(template(2))).toMatchObject({ changed: false });
    expect(calls).toEqual([1, 2]);
  });

  it('runs again after `every`', async () => {
    const { calls, run, clock } = setUp(() => 'ok');
    expect(await run(template(1, { every: '1m' }))).toMatchObject({ dueInMs: 60_000 });
    await clock.advance(59_000);
    expect(await run(template(1, { every: '1m' }))).toMatchObject({ changed: false, dueInMs: 1_000 });
    await clock.advance(1_000);
    await run(template(1, { every: '1m' }));
    expect(calls).toEqual([1, 1]);
  });

  it('keeps a failure as an outcome and tries again, later each time', async () => {
    const { calls, run, clock, runner } = setUp(() => {
      throw new Error('no route to host');
    });
    const first = await run(template(1));
    expect(first).toMatchObject({ changed: true, done: false });
    expect(runner.outcomes('uid').get('a')).toMatchObject({
      state: 'failed',
      message: 'no route to host',
      attempts: 1,
    });
    expect(await run(template(1))).toMatchObject({ changed: false });
    await clock.advance(first.dueInMs ?? 0);
    const second = await run(template(1));
    expect(second.changed).toBe(false);
    expect(second.dueInMs).toBeGreaterThan(first.dueInMs ?? 0);
    expect(calls).toEqual([1, 1]);
  });

  it.each([
    ['five minutes', {}, 300_000],
    ['what the effect says', { retryWithin: '20s' }, 20_000],
  ] as const)('waits between tries no longer than %s', async (_, more, most) => {
    const { run, clock, calls } = setUp(() => {
      throw new Error('no route to host');
    });
    const waits: number[] = [];
    for (let turn = 0; turn < 12; turn += 1) {
      const { dueInMs = 0 } = await run(template(1, more));
      waits.push(dueInMs);
      await clock.advance(dueInMs);
    }
    expect(calls).toHaveLength(12);
    expect(Math.max(...waits)).toBeLessThanOrEqual(most);
    expect(Math.max(...waits)).toBeGreaterThan(most / 3);
  });

  it('goes by what `retryWithin` says now, not by what it said when it failed', async () => {
    const { run, clock } = setUp(() => {
      throw new Error('no route to host');
    });
    for (let turn = 0; turn < 12; turn += 1) await clock.advance((await run(template(1))).dueInMs ?? 0);
    await run(template(1));
    const { dueInMs } = await run(template(1, { retryWithin: '10s' }));
    expect(dueInMs).toBeLessThanOrEqual(10_000);
  });

  it('runs all the others when one fails', async () => {
    const { calls, run } = setUp(({ n }) => {
      if (n === 1) throw new Error('no');
    });
    expect(await run(template(1), template(2, { key: 'b' }))).toMatchObject({ done: false });
    expect(calls).toEqual([1, 2]);
  });

  it('forgets what is no longer asked for', async () => {
    const { calls, run, runner } = setUp(() => 'ok');
    await run(template(1));
    await run();
    expect(runner.outcomes('uid').size).toBe(0);
    await run(template(1));
    expect(calls).toEqual([1, 1]);
  });

  it('gives a handler what it noted before, over other inputs and failures, until the effect is no longer asked for', async () => {
    const { run, runner, clock } = setUp(({ n }, { memory }) => {
      const seen = [...((memory.get('seen') as number[] | undefined) ?? []), n];
      memory.set('seen', seen);
      if (n === 2) throw new Error('two');
      return seen;
    });
    const result = () => runner.outcomes('uid').get('a');
    await run(template(1));
    const { dueInMs = 0 } = await run(template(2));
    await clock.advance(dueInMs);
    await run(template(3));
    expect(result()).toMatchObject({ result: [1, 2, 3] });
    await run();
    await run(template(4));
    expect(result()).toMatchObject({ result: [4] });
  });

  it('goes by what `every` says now, not by what it said when it last ran', async () => {
    const { calls, run, clock } = setUp(() => 'ok');
    await run(template(1, { every: '1h' }));
    await clock.advance(60_000);
    expect(await run(template(1, { every: '2m' }))).toMatchObject({ dueInMs: 60_000 });
    await clock.advance(60_000);
    await run(template(1, { every: '2m' }));
    expect(calls).toEqual([1, 1]);
    expect(await run(template(1))).toEqual({ changed: false, done: true });
  });

  it('keeps what the others came to when one of them is a bug, and starts none of those again', async () => {
    const slow = Promise.withResolvers<string>();
    const { calls, run, runner } = setUp(({ n }) => {
      if (n === 1) throw operatorBug('reads what it may not');
      return slow.promise;
    });
    const running = run(template(1), template(2, { key: 'b' })).catch((error: unknown) => error);
    slow.resolve('ok');
    expect(isOperatorBug(await running)).toBe(true);
    expect([...runner.outcomes('uid')]).toMatchObject([['b', { state: 'done', result: 'ok' }]]);
    await run(template(2, { key: 'b' }));
    expect(calls).toEqual([1, 2]);
  });

  it('ends a handler that takes too long, also one that does not heed its signal', async () => {
    const signals: AbortSignal[] = [];
    const { run, clock, runner } = setUp(({ n }, { signal }) => {
      signals.push(signal);
      if (n === 2) return new Promise(() => undefined);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    });
    const running = run(template(1), template(2, { key: 'b', timeout: '5s' }));
    await clock.advance(5_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    await clock.advance(25_000);
    expect(await running).toMatchObject({ done: false });
    expect([...runner.outcomes('uid')]).toMatchObject([
      ['a', { state: 'failed', message: "effect 'a' took longer than 30 s" }],
      ['b', { state: 'failed', message: "effect 'b' took longer than 5 s" }],
    ]);
  });

  it('does not start a second time what still runs', async () => {
    const { calls, run, clock, runner } = setUp(() => new Promise(() => undefined));
    for (let turn = 0; turn < 3; turn += 1) {
      const running = run(template(1));
      await clock.advance(31_000);
      await running;
    }
    expect(calls).toEqual([1]);
    expect(runner.outcomes('uid').get('a')).toMatchObject({
      message: "effect 'a' still runs although its time was up: its handler must heed the signal that it is given",
    });
  });

  it('keeps what was read from Secrets out of outcomes', async () => {
    const secret: KubeObject = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      data: { password: btoa('hunter22') },
    };
    const { run, runner, redactor } = setUp(({ n }) => {
      redactor.learn(secret);
      if (n === 1) throw new Error('login hunter22 failed at https://root:pw@host/x');
      return { url: 'https://host/?p=hunter22' };
    });
    await run(template(1), template(2, { key: 'b' }));
    expect(runner.outcomes('uid').get('a')).toMatchObject({
      message: 'login [redacted] failed at https://[redacted]@host/x',
    });
    expect(runner.outcomes('uid').get('b')).toMatchObject({ result: { url: 'https://host/?p=[redacted]' } });
  });

  it('does not take being stopped for a failure of the effect', async () => {
    const { run, runner, stop } = setUp(() => {
      stop.abort();
      throw new Error('aborted');
    });
    await expect(run(template(1))).rejects.toThrow('aborted');
    expect(runner.outcomes('uid').size).toBe(0);
  });

  it.each([
    ['an unknown handler', [template(1, { handler: 'index' })], /handler 'index', which it does not have.*template/],
    ['an inherited name', [template(1, { handler: 'toString' })], /handler 'toString', which it does not have/],
    ['a key twice', [template(1), template(2)], /effect 'a' twice/],
    ['a limit that is none', [template(1, { retryWithin: 'soon' as '1s' })], /effect 'a': 'soon' is not a duration/],
    ['a duration that is none', [template(1, { timeout: 'soon' as '1s' })], /effect 'a': 'soon' is not a duration/],
  ])('calls %s a bug of the operator', async (_, effects, message) => {
    const { run, calls } = setUp(() => 'ok');
    const error = await run(...effects).catch((thrown: unknown) => thrown);
    expect(isOperatorBug(error) && error.message).toMatch(message);
    expect(calls).toEqual([]);
  });
});
