/** Runs the CLI as a user would: the program in bin/, in a folder, with nothing of this process's environment that matters. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const program = resolve(import.meta.dirname, '../../../../bin/keelson');

export interface Invocation {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

/** Starts it and leaves it running; the caller ends it. */
export function startKeelson(
  args: readonly string[],
  { cwd = tmpdir(), env = {} }: Invocation = {},
): ChildProcessWithoutNullStreams {
  const { PATH = '', HOME = '', TMPDIR, KEELSON_CACHE, XDG_CACHE_HOME } = process.env;
  const inherited = Object.fromEntries(
    Object.entries({ PATH, HOME, TMPDIR, KEELSON_CACHE, XDG_CACHE_HOME }).filter(([, value]) => value !== undefined),
  );
  return spawn(program, args, {
    cwd,
    env: { ...inherited, KUBECONFIG: join(cwd, 'no-kubeconfig'), ...env } as NodeJS.ProcessEnv,
  });
}

/** Runs it to its end. */
export async function keelson(args: readonly string[], invocation: Invocation = {}): Promise<Outcome> {
  const child = startKeelson(args, invocation);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.end(invocation.stdin ?? '');
  const [code] = (await once(child, 'close')) as [number | null];
  return { stdout, stderr, code };
}

/** Resolves with all that was printed so far once it contains a text; rejects when the program ends before. */
export function whenPrinted(child: ChildProcessWithoutNullStreams, text: string): Promise<string> {
  let seen = '';
  return new Promise((found, failed) => {
    const look = (chunk: string | Buffer): void => {
      seen += String(chunk);
      if (seen.includes(text)) found(seen);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.once('close', (code) => failed(new Error(`ended with ${code} before it printed '${text}':\n${seen}`)));
  });
}
