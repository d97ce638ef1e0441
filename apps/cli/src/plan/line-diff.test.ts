import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineDiff } from './line-diff.ts';

describe('lineDiff', () => {
  it('given a text with two changes far apart, when compared, then only those lines are told', () => {
    const before = 'a: 1\nb: 2\nc: 3\nd: 4\ne: 5';
    expect(lineDiff(before, 'a: 1\nb: 20\nc: 3\nd: 4\nnew: 1\ne: 5')).toEqual(['- b: 2', '+ b: 20', '+ new: 1']);
  });

  it('given the same text, when compared, then there is nothing to tell', () => {
    expect(lineDiff('a\nb', 'a\nb')).toEqual([]);
  });

  it('given any two texts, when compared, then what goes is of the first, what comes of the second, in order, and as much stays in both', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const diff = lineDiff(before.join('\n'), after.join('\n'));
        const marked = (mark: string) => diff.filter((line) => line.startsWith(mark)).map((line) => line.slice(2));
        // A text without lines has one that is empty.
        const [from, to] = [before, after].map((lines) => (lines.length === 0 ? [''] : lines)) as [string[], string[]];
        expect(isWithin(marked('-'), from)).toBe(true);
        expect(isWithin(marked('+'), to)).toBe(true);
        expect(from.length - marked('-').length).toBe(to.length - marked('+').length);
      }),
    );
  });
});

function isWithin(some: readonly string[], all: readonly string[]): boolean {
  let found = 0;
  for (const line of all) if (line === some[found]) found += 1;
  return found === some.length;
}
