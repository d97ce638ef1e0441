/**
 * A part by itself: one real third-party process with a folder of its own, outside any Kubernetes.
 *
 * The invariants are those of `startTestEnv`: nothing is shared with others, so any number run at once; when this process
 * ends, in whatever way, neither process nor folder remains, and only a part that failed at start leaves its log.
 */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPartFailure, Part, type PartSpec, startOnFreePort } from './part.ts';
import { Reaper } from './reaper.ts';

/** A running part and the folder that vanishes with it. */
export interface Standalone extends AsyncDisposable {
  readonly dir: string;
  /** The process, which can be killed, paused and started again on the same data. */
  readonly part: Part;
  stop(): Promise<void>;
}

/** Where a part runs. */
export interface StandaloneOptions {
  /** Folder to make the temporary folder in; defaults to the system's. */
  readonly tmpdir?: string;
}

/** Makes a folder, lets `prepare` fill it and say what to run there, on which port, and resolves when that is ready. */
export async function startStandalone(
  prepare: (dir: string) => Promise<PartSpec>,
  options: StandaloneOptions,
): Promise<Standalone> {
  const dir = await mkdtemp(join(options.tmpdir ?? tmpdir(), 'keelson-part-'));
  const reaper = await Reaper.over(dir);
  try {
    await Promise.all(['log', 'tmp'].map((folder) => mkdir(join(dir, folder))));
    const part = await startOnFreePort(async () => new Part(await prepare(dir), reaper));
    const stop = () => reaper.end();
    return { dir, part, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await reaper.end({ keepLogs: isPartFailure(error) });
    throw error;
  }
}
