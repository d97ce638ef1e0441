/**
 * `keelson`: the entry. Builds the program, runs one command, and is the only place that catches: a failure becomes
 * `error:` and `remedy:` on stderr and its exit code, anything else is a bug and says so.
 */
import { enableCompileCache } from 'node:module';
import { basename, join } from 'node:path';
import process from 'node:process';
import { CommanderError } from 'commander';
import { cacheFolder } from './cache-folder.ts';
import { faultToFailure, isAnyFault } from './cluster/fault-to-failure.ts';
import { exitCodes } from './exit-codes.ts';
import { isFailure } from './failure.ts';
import { createProgram } from './program.ts';
import { processShell, type Shell } from './shell.ts';

async function main(argv: readonly string[], shell: Shell): Promise<void> {
  // kubectl runs a plugin as `kubectl-keelson`: its help should show what the user typed.
  const name = basename(argv[1] ?? '').startsWith('kubectl-') ? 'kubectl keelson' : 'keelson';
  const program = createProgram(shell, name);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    report(error, shell, argv.includes('--verbose') || argv.includes('-v'), name);
  }
}

function report(error: unknown, shell: Shell, verbose: boolean, name: string): void {
  // Commander has printed its own message, or the help that was asked for.
  if (error instanceof CommanderError) {
    shell.exitWith(error.exitCode === 0 ? exitCodes.ok.code : exitCodes.usage.code);
    return;
  }
  const known = isFailure(error) ? error : isAnyFault(error) ? faultToFailure(error) : undefined;
  const { bad, strong } = shell.notePaint;
  const what = known?.message ?? `unexpected: ${error instanceof Error ? error.message : String(error)}`;
  const remedy =
    known === undefined
      ? `this is a bug in keelson; run \`${name} … --verbose\` for the stack and report it`
      : known.remedy;
  shell.note(`${bad('error:')} ${what}\n`);
  if (remedy !== undefined) shell.note(`${strong('remedy:')} ${remedy}\n`);
  if (verbose && error instanceof Error)
    shell.note(`${error.stack ?? ''}${error.cause instanceof Error ? `\ncaused by ${error.cause.stack}` : ''}\n`);
  shell.exitWith(exitCodes[known?.exit ?? 'failed'].code);
}

enableCompileCache(join(cacheFolder(process.env), 'compiled'));
// A pipe that is closed early (`keelson render … | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
await main(process.argv, processShell());
