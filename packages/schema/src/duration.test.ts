import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Duration, toMilliseconds } from './duration.ts';
import { durationPattern } from './validate/words.ts';

describe('a duration', () => {
  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
  ] as [Duration, number][])('%s is %i ms', (duration, expected) => {
    expect(toMilliseconds(duration)).toBe(expected);
  });

  test('that is none is named, with a remedy', () => {
    expect(() => toMilliseconds('soon' as Duration)).toThrow("'soon' is not a duration: write for example 500ms");
  });

  test('is whatever the schema lets pass', () => {
    fc.assert(
      fc.property(fc.stringMatching(new RegExp(durationPattern)), (text) => {
        expect(toMilliseconds(text as Duration)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
