/** Compares generated files with what is on disk, and writes what differs. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { GeneratedFile } from '../config/define-config.ts';
import { generatedMark } from './files.ts';

export type Staleness = 'missing' | 'differs' | 'orphan';

export interface StaleFile {
  readonly path: string;
  readonly why: Staleness;
}

/** What differs between the wanted files and the disk; in `folders`, a generated file that nobody wants any more is an orphan. */
export async function findStale(
  root: string,
  wanted: readonly GeneratedFile[],
  folders: readonly string[],
): Promise<StaleFile[]> {
  const stale: StaleFile[] = [];
  for (const { path, content } of wanted) {
    const present = await readFile(join(root, path), 'utf8').catch(() => undefined);
    if (present === undefined) stale.push({ path, why: 'missing' });
    else if (present !== content) stale.push({ path, why: 'differs' });
  }
  const paths = new Set(wanted.map(({ path }) => path));
  for (const folder of folders) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries.filter((candidate) => candidate.isFile())) {
      const path = relative(root, join(entry.parentPath, entry.name));
      if (!paths.has(path) && (await readFile(join(root, path), 'utf8')).slice(0, 200).includes(generatedMark))
        stale.push({ path, why: 'orphan' });
    }
  }
  return stale;
}

/** Makes the disk as wanted. */
export async function writeStale(
  root: string,
  wanted: readonly GeneratedFile[],
  stale: readonly StaleFile[],
): Promise<void> {
  for (const { path, why } of stale) {
    const file = join(root, path);
    if (why === 'orphan') {
      await rm(file);
      continue;
    }
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, wanted.find((candidate) => candidate.path === path)?.content ?? '');
  }
}
