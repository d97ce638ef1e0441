import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from './line-splitter.ts';

/** Cuts bytes at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...[...places].map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

function split(chunks: readonly Buffer[]): string[] {
  const splitter = new LineSplitter();
  const lines = chunks.flatMap((chunk) => [...splitter.push(chunk)]);
  const last = splitter.end();
  return last === '' ? lines : [...lines, last];
}

describe('splitting a stream into lines', () => {
  it('given any text cut anywhere, also inside a character, the lines are those of the whole', () => {
    const text = fc.array(fc.string({ unit: 'binary' }).map((line) => line.replaceAll('\n', '')));
    fc.assert(
      fc.property(text, fc.boolean(), fc.array(fc.nat()), (lines, ended, places) => {
        const bytes = Buffer.from(lines.join('\n') + (ended ? '\n' : ''), 'utf8');
        const expected = bytes
          .toString('utf8')
          .split('\n')
          .filter((line) => line !== '');
        expect(split(cut(bytes, places))).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('given an event of 32 MiB in small chunks, it is joined once, not once a chunk', () => {
    const splitter = new LineSplitter();
    const chunk = Buffer.alloc(4 << 10, 'x');
    const startedAt = performance.now();
    for (let i = 0; i < 8192; i += 1) for (const _ of splitter.push(chunk)) throw new Error('no line is complete yet');
    expect(splitter.pending).toBe(32 << 20);
    const [line] = [...splitter.push(Buffer.from('\n'))];
    expect(line?.length).toBe(32 << 20);
    expect(splitter.pending).toBe(0);
    // Joining at every chunk would copy 128 GiB: a minute, where this takes a fraction of a second.
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });
});
