import { describe, expect, it } from 'vitest';
import { isRetold } from './failure.ts';

const failure = (message: string) => ({ reason: 'Conflict', message });

describe('a failure that is told again', () => {
  it.each([
    ['not at resource version 17', 'not at resource version 18'],
    ['timed out after 1.5s', 'timed out after 30s'],
    ['since 2026-03-01T11:59:59Z (3 times)', 'since 2026-03-01T12:00:10Z (4 times)'],
    ['port "30123" taken', 'port "30124" taken'],
  ])('is the same when only versions, times and counts differ: %s', (before, now) => {
    expect(isRetold(failure(before), failure(now))).toBe(true);
  });

  it.each([
    ['could not create ConfigMap shop/web-1: x', 'could not create ConfigMap shop/web-2: x'],
    ['could not create ConfigMap shop/2048: x', 'could not create ConfigMap shop/2049: x'],
    ['d10 is bad', 'd11 is bad'],
  ])('is another when it is about another object: %s', (before, now) => {
    expect(isRetold(failure(before), failure(now))).toBe(false);
  });

  it('is another when its reason is', () => {
    expect(isRetold(failure('x'), { reason: 'Forbidden', message: 'x' })).toBe(false);
  });
});
