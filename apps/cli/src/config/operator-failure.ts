/** What an operator's own code throws is for its developer: it is told as the failure of that operator, not as a bug of ours. */
import type { Operator } from '@keelson/runtime';
import { isAnyFault } from '../cluster/fault-to-failure.ts';
import { failure, isFailure } from '../failure.ts';

const look = 'look at the code of the operator; --verbose shows the stack';

/** Runs code of an operator; failures and faults of the cluster pass as they are. */
export async function asOperator<T>({ name }: Operator, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isFailure(error) || isAnyFault(error)) throw error;
    const message = error instanceof Error ? error.message : String(error);
    // By name: a project may bring its own copy of the runtime. Such a message names the operator and the remedy itself.
    if (error instanceof Error && error.name === 'OperatorBug') throw failure('failed', message, undefined, error);
    throw failure('failed', `operator ${name} failed: ${message}`, look, error);
  }
}
