import { describe, expect, it } from 'vitest';
import { palette } from '../output/palette.ts';
import { statusTable } from './table.ts';

describe('statusTable', () => {
  it('given a message of many lines, when printed to a file, then it is one line of bounded length', () => {
    const instance = {
      operator: 'guards',
      kind: 'Guard',
      name: 'a',
      ready: 'False',
      reason: 'OwnedByAnother',
      message: `first\nsecond ${'x'.repeat(2_000)}`,
      conditions: [],
      children: [],
      object: { apiVersion: 'example.com/v1', kind: 'Guard', metadata: { name: 'a' } },
    } as const;
    const columns = Number.POSITIVE_INFINITY;
    const text = statusTable([instance], { namespaces: false, paint: palette(false), columns, now: new Date(0) });
    const [, row = '', ...rest] = text.split('\n');
    expect(rest).toEqual(['']);
    expect(row).toMatch(/ first second x+…$/);
    expect(row.length).toBeLessThan(250);
  });
});
