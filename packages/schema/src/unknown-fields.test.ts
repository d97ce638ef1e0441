import { describe, expect, it } from 'vitest';
import { unknownFields } from './unknown-fields.ts';

describe('unknown fields', () => {
  it('given a field that parsing dropped, at any depth and in lists, names its path', () => {
    const given = { spec: { htm: 1, list: [{ name: 'a', nmae: 'b' }], deep: { ok: 1, no: 2 } } };
    const parsed = { spec: { list: [{ name: 'a' }], deep: { ok: 1 }, replicas: 1 } };
    expect(unknownFields(given, parsed).map(({ path }) => path)).toEqual([
      'spec.htm',
      'spec.list[0].nmae',
      'spec.deep.no',
    ]);
  });

  it('given nulls and undefined, which parsing drops too, misses nothing', () => {
    expect(unknownFields({ spec: { a: null, b: undefined } }, { spec: {} })).toEqual([]);
  });
});
