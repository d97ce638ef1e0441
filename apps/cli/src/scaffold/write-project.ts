/**
 * Writes a new operator project: the template folder with its names replaced. The template is itself a working operator called
 * `widget` (kind `Widget`), so that it is checked like all other code; what differs from project to project is in `Names` alone.
 */
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tarball } from './checkout.ts';
import type { Names } from './names.ts';

/** Where our packages come from: a range for the registry, or tarballs that are copied into the project. */
export type Origin = { readonly range: string } | { readonly tarballs: readonly Tarball[] };

const template = fileURLToPath(new URL('../../templates/operator', import.meta.url));

/** Writes the project and returns its files, from `folder`, sorted. */
export async function writeProject(folder: string, names: Names, origin: Origin): Promise<string[]> {
  const entries = await readdir(template, { recursive: true, withFileTypes: true });
  const written: string[] = [];
  for (const entry of entries.filter((candidate) => candidate.isFile())) {
    const source = join(entry.parentPath, entry.name);
    const path = target(relative(template, source), names);
    await mkdir(dirname(join(folder, path)), { recursive: true });
    const text = rename(await readFile(source, 'utf8'), names);
    await writeFile(join(folder, path), path === 'package.json' ? await withPackages(text, folder, origin) : text);
    written.push(path);
  }
  return written.sort();
}

/** npm leaves `.gitignore` out of packages, so the template keeps it under another name. */
function target(path: string, names: Names): string {
  return rename(path.replace(/(^|\/)_gitignore$/, '$1.gitignore'), names);
}

function rename(text: string, names: Names): string {
  return text
    .replaceAll('widget.example.com', names.group)
    .replaceAll('widgetOperator', `${names.value}Operator`)
    .replaceAll('widgets', names.plural)
    .replaceAll('widget', names.name)
    .replaceAll('Widget', names.kind);
}

async function withPackages(text: string, folder: string, origin: Origin): Promise<string> {
  const manifest = JSON.parse(text) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  if ('range' in origin) {
    for (const group of [manifest.dependencies, manifest.devDependencies]) {
      for (const name of Object.keys(group)) if (name.startsWith('@keelson/')) group[name] = origin.range;
    }
  } else {
    await mkdir(join(folder, 'vendor'), { recursive: true });
    for (const { name, file } of origin.tarballs) {
      await cp(file, join(folder, 'vendor', basename(file)));
      const group = name in manifest.dependencies ? manifest.dependencies : manifest.devDependencies;
      group[name] = `file:vendor/${basename(file)}`;
    }
  }
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}
