/**
 * Where built parts live: outside any checkout, one folder a part and key, so that branches and clones share them.
 *
 * The key is a hash of all that goes into a build (recipe files, build arguments, platform), so a stale binary is never
 * found, and a folder, once there, is complete and never changes: builds arrive by rename.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Part, type PartName, parts } from './parts.ts';
import { recipeKey } from './recipe.ts';

/** One part as the cache has it. */
export interface CachedPart {
  readonly name: PartName;
  readonly version: string;
  readonly title: string;
  /** Where the executable or folder is, or would be. */
  readonly path: string;
  /** Size in bytes, absent when it is not built. */
  readonly size?: number;
}

/** The folder that holds all that is built: $KEELSON_CACHE, else $XDG_CACHE_HOME/keelson, else ~/.cache/keelson. */
export function cacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  if (environment.KEELSON_CACHE) return environment.KEELSON_CACHE;
  if (environment.XDG_CACHE_HOME) return join(environment.XDG_CACHE_HOME, 'keelson');
  return join(homedir(), '.cache', 'keelson');
}

/** The recipe folder of a part; it stands in the same place as seen from src/ and from dist/. */
export function recipeDirectory(part: Part): string {
  return fileURLToPath(new URL(`../parts/${part.name}/`, import.meta.url));
}

/** The path of a part in the cache, which changes with anything that the part is made from. */
export async function partPath(part: Part, cache: string, recipe = recipeDirectory(part)): Promise<string> {
  const hash = createHash('sha256').update(`${process.platform}/${process.arch}`);
  hash.update(recipeKey(part.recipe));
  for (const file of (await readdir(recipe)).sort()) {
    hash.update(`\0${file}\0`).update(await readFile(join(recipe, file)));
  }
  return join(cache, 'parts', `${part.name}-${part.version}-${hash.digest('hex').slice(0, 16)}`, part.name);
}

/** Lists every part with its place in the cache, and its size where it is built. */
export async function listParts(cache = cacheDirectory()): Promise<CachedPart[]> {
  return Promise.all(
    parts.map(async (part) => {
      const path = await partPath(part, cache);
      const size = await sizeOf(path).catch(() => undefined);
      const { name, version, title } = part;
      return { name, version, title, path, ...(size !== undefined && { size }) };
    }),
  );
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path);
  if (!found.isDirectory()) return found.size;
  const sizes = await Promise.all((await readdir(path)).map((entry) => sizeOf(join(path, entry))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Removes every built part, of this and of other versions, and leaves the rest of the cache folder alone. */
export async function cleanParts(cache = cacheDirectory()): Promise<void> {
  await rm(join(cache, 'parts'), { recursive: true, force: true });
}
