/**
 * The shell is where a command runs: its streams, folder, environment and colours. Commands take it as an argument and touch
 * `process` nowhere else, so that what they print is all that they do to the outside beside the cluster.
 */
import process from 'node:process';
import { type Palette, palette } from './output/palette.ts';

export interface Shell {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream;
  /** Results: what a pipe should get. */
  out(text: string): void;
  /** Progress, notes and errors. */
  note(text: string): void;
  /** Stdout is a terminal: output may be repainted. */
  readonly live: boolean;
  /** Size of the terminal now; people resize it. */
  readonly columns: number;
  readonly rows: number;
  /** Colours for stdout and for stderr; plain where that stream is no terminal, or NO_COLOR is set. */
  readonly paint: Palette;
  readonly notePaint: Palette;
  /** Sets the exit code that the process ends with once everything is done. */
  exitWith(code: number): void;
  /** Command and leading arguments that run this program again. */
  readonly self: readonly string[];
  /** Ends the process now, whatever is still under way. */
  quit(code: number): never;
}

export function processShell(): Shell {
  const { env } = process;
  const wantsColour = (stream: NodeJS.WriteStream): boolean => {
    if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
    if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0') return true;
    return stream.isTTY === true && env.TERM !== 'dumb';
  };
  return {
    cwd: process.cwd(),
    env,
    stdin: process.stdin,
    out: (text) => void process.stdout.write(text),
    note: (text) => void process.stderr.write(text),
    live: process.stdout.isTTY === true && env.TERM !== 'dumb' && env.CI === undefined,
    get columns() {
      return columnsOf(process.stdout.columns);
    },
    get rows() {
      return process.stdout.rows || 40;
    },
    paint: palette(wantsColour(process.stdout)),
    notePaint: palette(wantsColour(process.stderr)),
    exitWith: (code) => {
      process.exitCode = code;
    },
    self: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
    quit: (code) => process.exit(code),
  };
}

/** The width to lay out for, by what the stream reports: a terminal that says 0 does not know its width, so nothing is cut. */
export function columnsOf(reported: number | undefined): number {
  return reported === 0 ? Number.POSITIVE_INFINITY : (reported ?? 120);
}
