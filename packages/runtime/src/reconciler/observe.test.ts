import { isFault } from '@keelson/kube';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Stage, startStage } from './testing/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
beforeEach(() => stage.begin());
afterEach(() => stage.end());
afterAll(() => stage?.stop());

describe('observe', () => {
  it('given code that never ends and does not heed its signal, the turn ends all the same, as a fault that is retried', async () => {
    const signals: AbortSignal[] = [];
    await stage.restartWith({
      definition: {
        observeTimeout: '200ms',
        observe: ({ signal }) => {
          signals.push(signal);
          return new Promise(() => undefined);
        },
      },
    });
    await stage.bench.create('web');
    const startedAt = performance.now();
    const error: unknown = await stage.bench.turn('web').catch((thrown: unknown) => thrown);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(isFault(error, 'TimedOut') && error.message).toBe('observe of operator bench took longer than 0.2 s');
    expect(signals[0]?.aborted).toBe(true);
  });
});
