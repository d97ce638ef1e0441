import { describe, expect, it } from 'vitest';
import { table } from './output/table.ts';
import { columnsOf } from './shell.ts';

describe('the width of a terminal', () => {
  it('given a terminal that reports 0 columns, when a table is laid out for it, then nothing is cut', () => {
    const long = 'x'.repeat(500);
    expect(table(['NAME'], [[long]], columnsOf(0))).toBe(`NAME\n${long}\n`);
  });

  it('given a width, or no terminal, when asked, then it is that width, or a common one', () => {
    expect([columnsOf(80), columnsOf(undefined)]).toEqual([80, 120]);
  });
});
