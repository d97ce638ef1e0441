/** Replicas as child processes of a test: started, killed and stopped, and none left behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ReplicaOptions } from './replica.ts';

export interface Replica extends AsyncDisposable {
  readonly pid: number;
  /** Resolves when its caches are synced; rejects if it ends before. */
  readonly running: Promise<void>;
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

export function startReplica(kubeconfig: string, options: ReplicaOptions = {}): Replica {
  const child = spawn(
    process.execPath,
    [
      '--conditions=keelson-source',
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, 'replica.ts'),
      kubeconfig,
      JSON.stringify(options),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(child, 'exit');
  const running = firstLine(child, exited);
  // Whoever kills a replica before it runs need not look at this.
  running.catch(() => undefined);
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
    child.kill(signal);
    const [code] = await exited;
    return code;
  };
  return {
    pid: child.pid ?? 0,
    running,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  };
}

async function firstLine(child: ChildProcess, exited: Promise<unknown[]>): Promise<void> {
  if (child.stdout === null) throw new Error('the replica has no standard output');
  const line = once(createInterface({ input: child.stdout }), 'line');
  const ended = exited.then(([code, signal]) => {
    throw new Error(`the replica ended before it ran: exit code ${code}, signal ${signal}`);
  });
  await Promise.race([line, ended]);
}
