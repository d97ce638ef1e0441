import { describe, expect, it } from 'vitest';
import { freeze } from './value.ts';

describe('freeze', () => {
  it('freezes everything in a value', () => {
    const value = freeze({ a: [{ b: 1 }] });
    expect(() => {
      (value.a[0] as { b: number }).b = 2;
    }).toThrow(TypeError);
  });

  it.each([
    ['a Buffer', Buffer.from('key')],
    ['a typed array', new Uint32Array([1, 2])],
    ['a DataView', new DataView(new ArrayBuffer(2))],
  ])('lets %s pass, which cannot be frozen, and freezes what is around it', (_, bytes) => {
    const value = freeze({ bytes, more: { a: 1 } });
    expect(value.bytes).toBe(bytes);
    expect(Object.isFrozen(value)).toBe(true);
    expect(Object.isFrozen(value.more)).toBe(true);
  });
});
