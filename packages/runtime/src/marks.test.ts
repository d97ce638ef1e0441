import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toLabelValue } from './marks.ts';

describe('toLabelValue', () => {
  it.each(['', 'a', 'shop-front', 'a.b_c', 'x'.repeat(63)])(
    'leaves a text that is a label value as it is: %j',
    (text) => {
      expect(toLabelValue(text)).toBe(text);
    },
  );

  it.each([
    ['x'.repeat(64), /^x{54}-[0-9a-f]{8}$/],
    ['-a', /^a-[0-9a-f]{8}$/],
    ['a/b', /^a-b-[0-9a-f]{8}$/],
    ['///', /^x-[0-9a-f]{8}$/],
  ])('makes one out of %j that is told apart from others', (text, like) => {
    expect(toLabelValue(text)).toMatch(like);
  });

  it('given any two texts, gives two values that Kubernetes takes', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 100 }), fc.string({ maxLength: 100 }), (one, other) => {
        expect(toLabelValue(one)).toMatch(/^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/);
        expect(toLabelValue(one) === toLabelValue(other)).toBe(one === other);
      }),
    );
  });
});
