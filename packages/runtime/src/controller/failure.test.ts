import { Fault, type FaultCode, faults } from '@keelson/kube';
import { describe, expect, it } from 'vitest';
import { operatorBug } from '../bug.ts';
import { FAST, SLOW } from '../queue/backoff.ts';
import { createBugLog } from './bug-log.ts';
import { judgeFailure } from './failure.ts';

describe('what to do about a failure', () => {
  it('follows the table of faults, for every code in it', () => {
    const expected = {
      backoff: { do: 'retry', backoff: FAST },
      slow: { do: 'retry', backoff: SLOW },
      never: { do: 'wait' },
      exit: { do: 'exit' },
    } as const;
    for (const [code, { retry }] of Object.entries(faults)) {
      const fault = new Fault(code as FaultCode, 'failed');
      expect(judgeFailure(fault), code).toMatchObject({ ...expected[retry], fault });
    }
  });

  it('waits at least as long as the server asks', () => {
    expect(judgeFailure(new Fault('TooManyRequests', 'busy', { retryAfterMs: 7_000 }))).toMatchObject({
      atLeastMs: 7_000,
    });
  });

  it('takes everything else for a bug', () => {
    for (const error of [new TypeError('x is undefined'), operatorBug('no'), 'a string', undefined])
      expect(judgeFailure(error)).toEqual({ do: 'retry-bug', backoff: FAST });
  });
});

describe('the log of bugs', () => {
  it('knows each kind and message once, and forgets before it grows without bound', () => {
    const bugs = createBugLog();
    expect(bugs.isNew(new TypeError('a'))).toBe(true);
    expect(bugs.isNew(new TypeError('a'))).toBe(false);
    expect(bugs.isNew(new RangeError('a'))).toBe(true);
    for (let n = 0; n < 1_000; n += 1) bugs.isNew(new Error(`${n}`));
    expect(bugs.isNew(new TypeError('a'))).toBe(true);
  });
});
