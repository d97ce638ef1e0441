import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toBillionths } from './quantity.ts';

describe('toBillionths', () => {
  it.each([
    ['1000m', '1'],
    ['1024Mi', '1Gi'],
    ['0.5', '500m'],
    ['.5Gi', '512Mi'],
    ['1e3', '1k'],
    ['1E', '1000P'],
    ['5E3', '5k'],
    ['0', '0Mi'],
    ['-1', '-1000m'],
    ['0.1n', '1n'],
  ])('knows that %s is worth %s', (a, b) => {
    expect(toBillionths(a)).toBeDefined();
    expect(toBillionths(a)).toBe(toBillionths(b));
  });

  it.each(['', '.', 'm', '1x', '1 Gi', '0x10', 'latest', true, null])('does not take %j for a quantity', (text) => {
    expect(toBillionths(text)).toBeUndefined();
  });

  it('orders whole numbers as numbers', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), (n) => {
        expect(toBillionths(n)).toBe(BigInt(n) * 1_000_000_000n);
      }),
    );
  });
});
