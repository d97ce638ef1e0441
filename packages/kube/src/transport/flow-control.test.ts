import { describe, expect, it } from 'vitest';
import { createStepClock } from '../testing/step-clock.ts';
import { FlowControl, type Load, type Permit } from './flow-control.ts';

const well: Load = { ended: 'well', latencyMs: 5, sort: 'write' };

function create(initial: number, max = 256): FlowControl {
  return new FlowControl(createStepClock(), { initial, max, min: 2 });
}

/** Runs full rounds: as many calls as the limit allows, all ending with the same load. */
async function rounds(flow: FlowControl, count: number, load: Load): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    const permits = await Promise.all(Array.from({ length: flow.limit }, () => flow.acquire('pods', false)));
    for (const permit of permits) permit.release(load);
  }
}

/** The names of those that are admitted, in order. */
function enqueue(flow: FlowControl, admitted: string[], ...names: string[]): Promise<Permit>[] {
  return names.map((name) =>
    flow.acquire(name[0] ?? '', false).then((permit) => {
      admitted.push(name);
      return permit;
    }),
  );
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('the limit', () => {
  it('given a server that copes, it grows by about one in two rounds, up to its maximum', async () => {
    const flow = create(10, 14);
    await rounds(flow, 1, well);
    expect(flow.limit).toBe(10);
    await rounds(flow, 3, well);
    expect(flow.limit).toBeGreaterThan(10);
    expect(flow.limit).toBeLessThan(14);
    await rounds(flow, 30, well);
    expect(flow.limit).toBe(14);
  });

  it('given calls far below it, it does not grow', async () => {
    const flow = create(10);
    for (let i = 0; i < 200; i += 1) (await flow.acquire('pods', false)).release(well);
    expect(flow.limit).toBe(10);
  });

  it('given 429s, it halves once for all calls that were under way together, never below its minimum', async () => {
    const flow = create(32);
    await rounds(flow, 1, { ended: 'turned-away' });
    expect(flow.limit).toBe(16);
    await rounds(flow, 10, { ended: 'turned-away' });
    expect(flow.limit).toBe(2);
  });

  it('given a server that recovers, it climbs back', async () => {
    const flow = create(32);
    await rounds(flow, 4, { ended: 'turned-away' });
    expect(flow.limit).toBe(2);
    await rounds(flow, 80, well);
    expect(flow.limit).toBeGreaterThanOrEqual(32);
  });

  it('given failures, it shrinks a little', async () => {
    const flow = create(20);
    await rounds(flow, 1, { ended: 'failed' });
    expect(flow.limit).toBe(16);
  });

  it('given calls that take far longer than the best ones did, it shrinks, but not far, and gets used to it', async () => {
    const slow: Load = { ended: 'well', latencyMs: 2_000, sort: 'write' };
    const flow = create(40, 40);
    await rounds(flow, 3, well);
    let lowest = flow.limit;
    for (let round = 0; round < 30; round += 1) {
      await rounds(flow, 1, slow);
      lowest = Math.min(lowest, flow.limit);
    }
    expect(lowest).toBeLessThan(40);
    expect(lowest).toBeGreaterThanOrEqual(8);
    await rounds(flow, 60, slow);
    expect(flow.limit).toBe(40);
  });

  it('given calls that were slow from the start, it does not shrink', async () => {
    const flow = create(20, 20);
    await rounds(flow, 5, { ended: 'well', latencyMs: 2_000, sort: 'list' });
    expect(flow.limit).toBe(20);
  });
});

describe('whose turn it is', () => {
  it('given a storm on one kind, another kind waits for one call, not for the storm', async () => {
    const flow = create(2);
    const admitted: string[] = [];
    const running = await Promise.all(enqueue(flow, admitted, 'a0', 'a1'));
    enqueue(flow, admitted, 'a2', 'a3', 'a4', 'a5', 'b1', 'c1');
    for (const permit of running) permit.release({ ended: 'unknown' });
    await settle();
    expect(admitted).toEqual(['a0', 'a1', 'a2', 'b1']);
    expect(flow.waiting).toBe(4);
  });

  it('given one kind, first come first served', async () => {
    const flow = create(2);
    const admitted: string[] = [];
    const [one, two] = await Promise.all(enqueue(flow, admitted, 'a0', 'a1'));
    enqueue(flow, admitted, 'a2', 'a3');
    one?.release({ ended: 'unknown' });
    await settle();
    two?.release({ ended: 'unknown' });
    await settle();
    expect(admitted).toEqual(['a0', 'a1', 'a2', 'a3']);
  });

  it('given an urgent call, it does not wait', async () => {
    const flow = create(2);
    const admitted: string[] = [];
    enqueue(flow, admitted, 'a0', 'a1', 'a2');
    await flow.acquire('lease', true);
    await settle();
    expect(admitted).toEqual(['a0', 'a1']);
    expect(flow.underWay).toBe(3);
  });

  it('given a caller that gives up while waiting, its place goes to the next', async () => {
    const flow = create(2);
    const admitted: string[] = [];
    const [one] = enqueue(flow, admitted, 'a0', 'a1');
    const controller = new AbortController();
    const left = flow.acquire('a', false, controller.signal);
    enqueue(flow, admitted, 'a2');
    controller.abort(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
    (await one)?.release({ ended: 'unknown' });
    await settle();
    expect(admitted).toEqual(['a0', 'a1', 'a2']);
    expect(flow.waiting).toBe(0);
  });

  it('given a call that waited, it knows for how long', async () => {
    const clock = createStepClock();
    const flow = new FlowControl(clock, { initial: 1, min: 1 });
    const first = await flow.acquire('a', false);
    const second = flow.acquire('a', false);
    clock.advance(70);
    first.release({ ended: 'unknown' });
    expect((await second).waitedMs).toBe(70);
  });
});
