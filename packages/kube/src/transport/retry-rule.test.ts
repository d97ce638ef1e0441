import { describe, expect, it } from 'vitest';
import { type Attempt, parseRetryAfter, retryDelay } from './retry-rule.ts';

const delay = (attempt: Attempt, repeatable: boolean, failed = 0) =>
  retryDelay(attempt, { repeatable, failed, random: 0 });

describe('what may be repeated', () => {
  it.each<[string, Attempt, { write: number | undefined; read: number | undefined }]>([
    ['not sent', { lost: 'unsent' }, { write: 50, read: 50 }],
    ['lost after it was sent', { lost: 'sent' }, { write: undefined, read: 50 }],
    ['429', { status: 429 }, { write: 50, read: 50 }],
    ['429, Retry-After 2 s', { status: 429, retryAfterMs: 2_000 }, { write: 2_000, read: 2_000 }],
    ['503', { status: 503 }, { write: undefined, read: 50 }],
    ['503, Retry-After 1 s', { status: 503, retryAfterMs: 1_000 }, { write: 1_000, read: 1_000 }],
    ['500', { status: 500 }, { write: undefined, read: 50 }],
    ['500, Retry-After 1 s', { status: 500, retryAfterMs: 1_000 }, { write: undefined, read: 1_000 }],
    ['504', { status: 504 }, { write: undefined, read: 50 }],
    ['409', { status: 409 }, { write: undefined, read: undefined }],
    ['404', { status: 404 }, { write: undefined, read: undefined }],
    ['422', { status: 422 }, { write: undefined, read: undefined }],
  ])('%s', (_, attempt, expected) => {
    expect({ write: delay(attempt, false), read: delay(attempt, true) }).toEqual(expected);
  });

  it('given repeated failure, the delay doubles up to 5 s and the attempts are bounded', () => {
    expect([0, 1, 2, 3].map((failed) => delay({ lost: 'unsent' }, false, failed))).toEqual([50, 100, 200, undefined]);
    expect([0, 5, 8, 9].map((failed) => delay({ status: 429 }, false, failed))).toEqual([50, 1600, 2500, undefined]);
  });

  it('given chance, Retry-After is a lower bound', () => {
    const late = retryDelay({ status: 429, retryAfterMs: 1_000 }, { repeatable: true, failed: 0, random: 0.999 });
    expect(late).toBeGreaterThan(1_000);
    expect(late).toBeLessThan(1_310);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2030-01-01T00:00:00Z');
  it.each([
    ['3', 3_000],
    ['Tue, 01 Jan 2030 00:00:05 GMT', 5_000],
    ['Mon, 31 Dec 2029 00:00:00 GMT', 0],
    ['soon', undefined],
    [undefined, undefined],
  ])('%s', (header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });
});
