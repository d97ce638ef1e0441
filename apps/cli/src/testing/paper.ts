/** A shell that writes on paper: for looking at what would be printed, terminal or not. */
import { PassThrough } from 'node:stream';
import { palette } from '../output/palette.ts';
import type { Shell } from '../shell.ts';

export interface Paper extends Shell {
  /** All that was printed so far. */
  text(): string;
}

export function paper(options: { live?: boolean; columns?: number; rows?: number; stdin?: string } = {}): Paper {
  let printed = '';
  const write = (text: string): void => {
    printed += text;
  };
  const stdin = new PassThrough();
  stdin.end(options.stdin ?? '');
  return {
    cwd: '/',
    env: {},
    stdin: stdin as unknown as NodeJS.ReadStream,
    out: write,
    note: write,
    live: options.live ?? false,
    columns: options.columns ?? 120,
    rows: options.rows ?? 40,
    paint: palette(false),
    notePaint: palette(false),
    exitWith: () => {},
    self: ['keelson'],
    quit: (code) => {
      throw new Error(`quit with ${code}`);
    },
    text: () => printed,
  };
}
