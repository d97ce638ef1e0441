/**
 * A part: one process of the environment (etcd, kube-apiserver, …) that tests can kill, pause and start again.
 *
 * Invariant: `start()` resolves when the part answers its readiness check, never before, and rejects with the tail of the
 * part's log when it exits first. A part keeps its command line, and with it its port and data, over restarts.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reaper } from './reaper.ts';

/** What a part is made of. */
export interface PartSpec {
  readonly name: string;
  readonly command: readonly string[];
  /** Variables that the part needs besides those of the closed environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What has to be done before each start. */
  readonly prepare?: () => Promise<void>;
  /** Whether the part serves now; called every few milliseconds until it says yes. */
  readonly isReady: () => Promise<boolean>;
  /** How long the part may take to become ready. */
  readonly readyWithinMs: number;
}

/** Why a part did not come up; `log` is the tail of its output. */
export interface PartFailure extends Error {
  readonly part: string;
  readonly log: string;
}

/** One process of the environment. */
export class Part {
  readonly name: string;
  /** Where the part's output goes, appended over restarts. */
  readonly logFile: string;
  readonly #spec: PartSpec;
  readonly #reaper: Reaper;
  #process: ChildProcess | undefined;

  constructor(spec: PartSpec, reaper: Reaper) {
    this.name = spec.name;
    this.logFile = join(reaper.dir, 'log', `${spec.name}.log`);
    this.#spec = spec;
    this.#reaper = reaper;
  }

  /** Process id, or undefined while the part does not run. */
  get pid(): number | undefined {
    return this.running ? this.#process?.pid : undefined;
  }

  /** Whether the process exists (a paused one does). */
  get running(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Starts the part on its old port and data, and waits until it is ready; does nothing when it runs. */
  async start(): Promise<void> {
    if (this.running) return;
    await this.#spec.prepare?.();
    const log = await open(this.logFile, 'a');
    try {
      // Output goes straight to the file: a pipe would fill up, or break, when the test process is busy or gone.
      this.#process = this.#reaper.spawn(this.#spec.command, {
        stdio: ['ignore', log.fd, log.fd],
        cwd: this.#reaper.dir,
        env: { ...partEnvironment(this.#reaper.dir), ...this.#spec.environment },
      });
      this.#process.once('error', () => {});
    } finally {
      await log.close();
    }
    const deadline = Date.now() + this.#spec.readyWithinMs;
    while (!(await this.#spec.isReady())) {
      if (!this.running) throw await this.#failure(`ended with ${this.#exitWords()} before it was ready`);
      if (Date.now() > deadline) throw await this.#failure(`was not ready within ${this.#spec.readyWithinMs / 1000} s`);
      await sleep(25);
    }
  }

  /** Sends a signal, SIGKILL unless told otherwise, and for SIGKILL waits until the process is gone. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    if (!child || !this.running) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    if (signal !== 'SIGKILL') return;
    child.ref();
    await exit;
  }

  /** Ends the part gracefully (SIGTERM), and after three seconds with SIGKILL. */
  async stop(): Promise<void> {
    const child = this.#process;
    if (!child || !this.running) return;
    child.ref();
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    // A paused process would keep the signal pending for ever.
    child.kill('SIGCONT');
    const insist = setTimeout(() => child.kill('SIGKILL'), 3000);
    await exit;
    clearTimeout(insist);
  }

  /** Stops the part gracefully and starts it again. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Freezes the process (SIGSTOP): connections stay open and nothing answers. */
  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  /** Lets a paused process go on. */
  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  /** The last lines of the part's output. */
  async log(lines = 40): Promise<string> {
    const text = await readFile(this.logFile, 'utf8').catch(() => '');
    return text.trimEnd().split('\n').slice(-lines).join('\n');
  }

  #exitWords(): string {
    const { exitCode, signalCode } = this.#process ?? {};
    return signalCode ? `signal ${signalCode}` : `exit code ${exitCode}`;
  }

  async #failure(what: string): Promise<PartFailure> {
    const log = await this.log(15);
    const error = new Error(`${this.name} ${what}; the end of its log (${this.logFile}):\n${log}`);
    return Object.assign(error, { name: 'PartFailure', part: this.name, log });
  }
}

/** Says whether an error is about a part that did not come up. */
export function isPartFailure(error: unknown): error is PartFailure {
  return error instanceof Error && error.name === 'PartFailure';
}

/** How often a part is tried on another port. */
export const portAttempts = 5;

/** Makes and starts a part, and makes another one when somebody has taken its port between the look and the bind. */
export async function startOnFreePort(make: () => Promise<Part>): Promise<Part> {
  for (let attempt = 1; ; attempt += 1) {
    const part = await make();
    try {
      await part.start();
      return part;
    } catch (error) {
      if (!isPortTaken(error) || attempt === portAttempts) throw error;
    }
  }
}

/** Says whether an error is about a part whose port was taken. */
export function isPortTaken(error: unknown): boolean {
  return isPartFailure(error) && /address already in use/i.test(error.log);
}

/** A closed environment: nothing of the user's (proxies, kubeconfig, caches in HOME) leaks in, nothing leaks out. */
export function partEnvironment(dir: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: dir,
    TMPDIR: join(dir, 'tmp'),
    KUBECACHEDIR: join(dir, 'tmp', 'kube-cache'),
  };
}
