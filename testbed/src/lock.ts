/**
 * A lock between processes as a file that its holder keeps touching.
 *
 * Invariant: a holder that died never blocks others for long. The lock is stale when its process is gone from this
 * machine, or when nobody has touched it for a while (another machine on a shared cache folder, a reused process id).
 */
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** A lock that is held until it is released or its process ends. */
export interface Lock extends AsyncDisposable {
  release(): Promise<void>;
}

/** Tuning and observation of the wait for a lock. */
export interface LockOptions {
  /** Called every few seconds of waiting with the process id of the holder. */
  readonly onWait?: (holder: string) => void;
  /** How often a holder touches its lock. */
  readonly touchEveryMs?: number;
  /** After how long without a touch a lock counts as stale. */
  readonly staleAfterMs?: number;
}

/** Waits until the lock file is ours, taking it over from a holder that is gone. */
export async function acquireLock(path: string, options: LockOptions = {}): Promise<Lock> {
  const { onWait, touchEveryMs = 5000, staleAfterMs = 60_000 } = options;
  for (let waited = 0; ; waited += 1) {
    if (await create(path)) break;
    const holder = await readHolder(path);
    if (holder === undefined) continue;
    if (await isStale(path, holder, staleAfterMs)) {
      await removeAside(path);
      continue;
    }
    if (waited % 8 === 0) onWait?.(`${holder.pid} on ${holder.host}`);
    await sleep(500);
  }
  const touch = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, touchEveryMs);
  touch.unref();
  const release = async () => {
    clearInterval(touch);
    await rm(path, { force: true });
  };
  return { release, [Symbol.asyncDispose]: release };
}

interface Holder {
  readonly pid: number;
  readonly host: string;
}

async function create(path: string): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify({ pid: process.pid, host: hostname() } satisfies Holder), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readHolder(path: string): Promise<Holder | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const parsed = JSON.parse(text) as Partial<Holder>;
    return { pid: parsed.pid ?? 0, host: parsed.host ?? '' };
  } catch {
    // Created but not yet written, or its writer died in between: only its age can tell.
    return { pid: 0, host: '' };
  }
}

async function isStale(path: string, holder: Holder, staleAfterMs: number): Promise<boolean> {
  if (holder.host === hostname() && holder.pid > 0 && !isAlive(holder.pid)) return true;
  const file = await stat(path).catch(() => undefined);
  return file !== undefined && Date.now() - file.mtimeMs > staleAfterMs;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function removeAside(path: string): Promise<void> {
  // Rename first: of several that find the same stale lock only one succeeds in moving it.
  const aside = `${path}.stale-${process.pid}-${Date.now()}`;
  await rename(path, aside).catch(() => {});
  await rm(aside, { force: true });
}
