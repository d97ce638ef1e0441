/**
 * `new feature`: a security tool of one's own, as a folder beside the others and a line in their list. The template is itself a
 * working feature called `sample_tool`; what differs from feature to feature is in `FeatureNames` alone.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { failure } from '../failure.ts';
import type { Shell } from '../shell.ts';
import { isTaken, withFeature } from './feature-list.ts';
import { type FeatureNames, featureNamesFor } from './feature-names.ts';

const template = fileURLToPath(new URL('../../templates/feature', import.meta.url));

/** Where the list stands, seen from the root of a checkout and from below. */
const places = ['operators/security/src/features', 'src/features', '.'];

export async function newFeature(name: string, shell: Shell): Promise<void> {
  const names = featureNamesFor(name);
  const { folder: features, text } = await findList(shell.cwd);
  const list = join(features, 'index.ts');
  const folder = join(features, names.folder);
  const here = (path: string): string => relative(shell.cwd, path) || '.';
  if ((await readdir(folder).catch(() => undefined)) !== undefined)
    throw failure('usage', `${here(folder)} exists already`, 'choose another name, or remove that folder first');
  if (isTaken(text, names))
    throw failure('usage', `${here(list)} uses the name ${names.value} already`, 'choose another name');
  const changed = withFeature(text, names);
  if (changed === undefined) {
    throw failure(
      'usage',
      `${here(list)} is no list that a line can be added to`,
      'it should end in `featureList([`, one feature a line, and `]);`',
    );
  }
  const files = await writeFeature(folder, names);
  await writeFile(list, changed);
  shell.out(
    `Wrote the feature ${names.id} to ${here(folder)}:\n${files.map((file) => `  ${file}\n`).join('')}` +
      `and its line to ${here(list)}.\n\n` +
      `Next:\n  make test ARGS=${here(folder)}    # its golden cases\n` +
      `  keelson explain feature ${names.id}\n  then make it yours, from feature.ts on\n`,
  );
}

/** The folder of the features: in the current folder, or in one above it. */
async function findList(cwd: string): Promise<{ folder: string; text: string }> {
  for (let at = cwd; ; at = dirname(at)) {
    for (const place of places) {
      const folder = join(at, place);
      const text = await readFile(join(folder, 'index.ts'), 'utf8').catch(() => '');
      if (text.includes('featureList(')) return { folder, text };
    }
    if (dirname(at) === at) break;
  }
  throw failure(
    'usage',
    `no list of features in ${cwd} or above it`,
    'go to a checkout of Keelson, where operators/security/src/features/index.ts is; for an operator of your own: `keelson new operator`',
  );
}

async function writeFeature(folder: string, names: FeatureNames): Promise<string[]> {
  const entries = await readdir(template, { recursive: true, withFileTypes: true });
  const written: string[] = [];
  for (const entry of entries.filter((candidate) => candidate.isFile())) {
    const source = join(entry.parentPath, entry.name);
    const path = relative(template, source);
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), rename(await readFile(source, 'utf8'), names));
    written.push(path);
  }
  return written.sort();
}

function rename(text: string, { id, folder, value, title }: FeatureNames): string {
  return text
    .replaceAll('sample_tool', id)
    .replaceAll('sample-tool', folder)
    .replaceAll('sampleTool', value)
    .replaceAll('Sample tool', title);
}
