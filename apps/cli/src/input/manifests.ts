/**
 * Reads manifests as people write them: files with one or several YAML documents, folders of such files, `-` for standard
 * input, `kind: List`. Every object remembers where it stands, so that a complaint about it can name file and line.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { KubeObject } from '@keelson/schema';
import { isMap, LineCounter, parseAllDocuments } from 'yaml';
import { failure } from '../failure.ts';
import type { Shell } from '../shell.ts';

export interface Manifest {
  readonly object: KubeObject;
  /** `site.yaml:12`, for messages. */
  readonly place: string;
}

/** Everything in these files, in order; a failure names the file, line and column. */
export async function readManifests(files: readonly string[], shell: Shell): Promise<Manifest[]> {
  const manifests: Manifest[] = [];
  for (const file of files) {
    for (const source of await sources(file, shell)) manifests.push(...parseManifests(source.text, source.name));
  }
  if (manifests.length === 0) {
    throw failure('usage', `no objects in ${files.join(', ')}`, 'give a file with at least one YAML document in it');
  }
  return manifests;
}

async function sources(file: string, shell: Shell): Promise<{ name: string; text: string }[]> {
  if (file === '-') {
    let text = '';
    for await (const chunk of shell.stdin) text += chunk;
    return [{ name: 'stdin', text }];
  }
  const path = resolve(shell.cwd, file);
  try {
    if (!(await stat(path)).isDirectory()) return [{ name: file, text: await readFile(path, 'utf8') }];
    const names = (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort();
    return await Promise.all(
      names.map(async (name) => ({
        name: relative(shell.cwd, join(path, name)),
        text: await readFile(join(path, name), 'utf8'),
      })),
    );
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why =
      code === 'ENOENT' ? 'no such file' : code === 'EACCES' ? 'permission denied' : String((error as Error).message);
    throw failure('usage', `cannot read ${file}: ${why}`, 'check the path after -f; `-` reads standard input', error);
  }
}

/** The objects of one text; `name` is what messages call it. */
export function parseManifests(text: string, name: string): Manifest[] {
  const lines = new LineCounter();
  const manifests: Manifest[] = [];
  for (const document of parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })) {
    const [problem] = document.errors;
    if (problem !== undefined) {
      const { line, col } = lines.linePos(problem.pos[0]);
      throw failure(
        'usage',
        `${name}:${line}:${col}: not valid YAML: ${problem.message}`,
        'fix that line; indentation is by spaces, and a key stands once in a mapping',
      );
    }
    const value: unknown = document.toJS();
    if (document.contents === null || value === null) continue;
    const place = `${name}:${lines.linePos(document.contents.range?.[0] ?? 0).line}`;
    if (!isMap(document.contents)) {
      throw failure(
        'usage',
        `${place}: expected an object with apiVersion, kind and metadata, found ${Array.isArray(value) ? 'a list' : `'${String(value)}'`}`,
      );
    }
    manifests.push(...objectsOf(value as Record<string, unknown>, place));
  }
  return manifests;
}

function objectsOf(value: Record<string, unknown>, place: string): Manifest[] {
  if (value.kind === 'List' && Array.isArray(value.items)) {
    return value.items.flatMap((item: unknown, index) =>
      objectsOf(item as Record<string, unknown>, `${place} items[${index}]`),
    );
  }
  const metadata = value.metadata as { name?: unknown } | undefined;
  for (const [field, found] of [
    ['apiVersion', value.apiVersion],
    ['kind', value.kind],
    ['metadata.name', metadata?.name],
  ] as const) {
    if (typeof found !== 'string' || found === '') {
      throw failure(
        'usage',
        `${place}: ${field} is ${found === undefined ? 'missing' : `not a string: ${JSON.stringify(found)}`}`,
        'every object needs apiVersion, kind and metadata.name',
      );
    }
  }
  return [{ object: value as KubeObject, place }];
}
