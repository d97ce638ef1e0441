import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { age } from './age.ts';
import { palette, widthOf } from './palette.ts';
import { table } from './table.ts';

describe('table', () => {
  it('given coloured cells, when laid out, then columns align by what is seen, and no line ends in spaces', () => {
    const paint = palette(true);
    const text = table(
      ['NAME', 'READY', 'NOTE'],
      [
        ['a', paint.good('True'), ''],
        ['longer', paint.bad('False'), 'why'],
      ],
    );
    const seen = text.split('\n').map((line) => stripVTControlCharacters(line));
    expect(seen).toEqual(['NAME     READY   NOTE', 'a        True', 'longer   False   why', '']);
  });

  it('given a narrow terminal, when laid out, then the last cell is cut to fit and marked', () => {
    const text = table(['NAME', 'MESSAGE'], [['a', 'a message that is far too long']], 16);
    expect(text.split('\n')[1]).toBe('a      a messag…');
    expect(widthOf(text.split('\n')[1] ?? '')).toBe(16);
  });
});

describe('palette', () => {
  it('given colours are off, when painting, then the text is unchanged', () => {
    expect(palette(false).bad('x')).toBe('x');
    expect(palette(true).bad('x')).toBe('\u001b[31mx\u001b[39m');
  });
});

describe('age', () => {
  const now = new Date('2026-01-02T00:00:00Z');
  it.each([
    [0, '0s'],
    [119, '119s'],
    [125, '2m5s'],
    [11 * 60, '11m'],
    [3 * 3600 + 600, '3h10m'],
    [20 * 3600, '20h'],
    [72 * 3600, '3d'],
  ])('given %i seconds, when written, then it reads %s', (seconds, text) => {
    expect(age(new Date(now.getTime() - seconds * 1000).toISOString(), now)).toBe(text);
  });
});
