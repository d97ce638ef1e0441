/**
 * A failure is an error that is meant for the person at the terminal: what went wrong, what to do about it, and the exit code.
 * Whatever else reaches `main` is a bug of ours and is shown as one. Printed by main.ts only, as
 *
 *   error: what
 *   remedy: what to do
 */
import type { ExitName } from './exit-codes.ts';

const brand = Symbol.for('keelson.cli.failure');

export interface Failure extends Error {
  readonly exit: ExitName;
  readonly remedy?: string;
}

/** An error for a person; throw it. */
export function failure(exit: ExitName, what: string, remedy?: string, cause?: unknown): Failure {
  const error = new Error(what, cause === undefined ? undefined : { cause });
  return Object.assign(error, { name: 'Failure', exit, [brand]: true, ...(remedy === undefined ? {} : { remedy }) });
}

export function isFailure(error: unknown): error is Failure {
  return error instanceof Error && brand in error;
}
