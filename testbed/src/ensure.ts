/**
 * `ensurePart`: the one way to a part. In the cache → its path at once; else build it, with visible progress.
 *
 * Invariant: a path that is returned names a complete part. A build goes to a folder of its own and arrives by one
 * rename, so a crash leaves rubbish but never half a part. The lock only saves work: were it to fail, two processes would
 * build the same thing and the second rename would find the first one's result. Called by testenv, the CLI and make.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { cacheDirectory, partPath, recipeDirectory } from './cache.ts';
import { acquireLock } from './lock.ts';
import { findPart, type Part, type PartName } from './parts.ts';
import { carryOut, recipeWords } from './recipe.ts';

/** How to ensure a part. */
export interface EnsureOptions {
  /** Receives a line for people every few seconds while something is being built; silent when the part is cached. */
  readonly onProgress?: (line: string) => void;
  /** Another cache folder than `cacheDirectory()`. */
  readonly cache?: string;
}

/** A part that is there. */
export interface EnsuredPart {
  /** Absolute path of the executable, or of the folder when the part is one. */
  readonly path: string;
  /** Whether this call built it. */
  readonly built: boolean;
}

const progressEveryMs = 4000;

/** Gives the path of a part and builds it first when the cache does not have it. */
export function ensurePart(name: PartName, options: EnsureOptions = {}): Promise<EnsuredPart> {
  const part = findPart(name);
  return ensureBuilt(part, recipeDirectory(part), options);
}

/** The same for a part whose recipe stands in any folder. */
export async function ensureBuilt(part: Part, recipe: string, options: EnsureOptions = {}): Promise<EnsuredPart> {
  const { cache = cacheDirectory(), onProgress: tell = () => {} } = options;
  const { name } = part;
  const path = await partPath(part, cache, recipe);
  if (existsSync(path)) return { path, built: false };

  await mkdir(join(cache, 'parts'), { recursive: true });
  await using _lock = await acquireLock(`${dirname(path)}.lock`, {
    onWait: (holder) => tell(`${name}: waiting for process ${holder}, which is building it`),
  });
  if (existsSync(path)) return { path, built: false };

  const started = Date.now();
  const elapsed = () => `${Math.round((Date.now() - started) / 1000)} s`;
  let activity = 'starting';
  tell(`${name}: ${recipeWords(part)} (once; ${part.coldBuild} when nothing is cached)`);
  const ticker = setInterval(() => tell(`${name}: ${elapsed()}, ${activity}`), progressEveryMs);
  await removeAbandoned(`${dirname(path)}.building-`);
  const workshop = `${dirname(path)}.building-${randomUUID()}`;
  try {
    await mkdir(workshop);
    await carryOut(part.recipe, recipe, join(workshop, name), (current) => {
      activity = current;
    });
    await rename(workshop, dirname(path)).catch((error: NodeJS.ErrnoException) => {
      // Somebody else finished the very same build meanwhile: theirs is as good as ours.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    clearInterval(ticker);
    await rm(workshop, { recursive: true, force: true });
  }
  tell(`${name}: done in ${elapsed()}, kept at ${path}`);
  return { path, built: true };
}

/** A build that was killed leaves its folder; whoever holds the lock of the same part may clear it away. */
async function removeAbandoned(prefix: string): Promise<void> {
  const left = (await readdir(dirname(prefix))).filter((entry) => entry.startsWith(basename(prefix)));
  await Promise.all(left.map((entry) => rm(join(dirname(prefix), entry), { recursive: true, force: true })));
}
