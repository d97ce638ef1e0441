/**
 * A bug in an operator that the engine found: not a fault of the cluster, not a mistake of the user. It is counted apart, and
 * its message (which names the operator and the remedy, and holds no data of objects) may be shown to users.
 */
const name = 'OperatorBug';

/** An error for what an operator's code must not do. */
export function operatorBug(message: string, cause?: unknown): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  error.name = name;
  return error;
}

/** True for an error made by `operatorBug`. */
export function isOperatorBug(error: unknown): error is Error {
  return error instanceof Error && error.name === name;
}
