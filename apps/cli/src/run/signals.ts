/** The two signals of a polite end: the first asks, the second does not. */
import process from 'node:process';
import { exitCodes } from '../exit-codes.ts';
import type { Shell } from '../shell.ts';

export interface Interruption {
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Gives the signals back. */
  release(): void;
}

/** From now on the first SIGINT or SIGTERM aborts, the second ends the process at once. */
export function onInterrupt(shell: Shell, tell: (signal: NodeJS.Signals) => void): Interruption {
  const controller = new AbortController();
  const handle = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) shell.quit(exitCodes.interrupted.code);
    controller.abort(new Error(`received ${signal}`));
    tell(signal);
  };
  const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];
  for (const signal of signals) process.on(signal, handle);
  return {
    signal: controller.signal,
    release: () => {
      for (const signal of signals) process.off(signal, handle);
    },
  };
}
