/** `new operator`: checks the names and the folder, finds our packages, writes the project and says what to do next. */
import { mkdir, readdir } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { builtInKinds } from '@keelson/schema';
import { failure } from '../failure.ts';
import { ownVersion } from '../own-version.ts';
import type { Shell } from '../shell.ts';
import { checkoutRoot, packCheckout } from './checkout.ts';
import { namesFor } from './names.ts';
import { type Origin, writeProject } from './write-project.ts';

export async function newOperator(options: { name: string; group: string; dir?: string }, shell: Shell): Promise<void> {
  const names = namesFor(options.name, options.group);
  if (builtInKinds.some(({ kind }) => kind === names.kind)) {
    throw failure(
      'usage',
      `${names.kind} is a kind of Kubernetes itself`,
      'choose another name, so that nobody mistakes yours for it',
    );
  }
  const folder = resolve(shell.cwd, options.dir ?? names.name);
  const present = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw failure('usage', `${folder} cannot be used: ${error.message}`, 'choose another place with --dir', error);
  });
  if (present.length > 0)
    throw failure('usage', `${folder} is not empty`, 'choose another name, or another place with --dir');
  const origin = await packages(shell);
  await mkdir(folder, { recursive: true });
  const files = await writeProject(folder, names, origin);
  const here = relative(shell.cwd, folder) || '.';
  shell.out(
    `Wrote ${names.kind} (${names.plural}.${names.group}) to ${here}:\n${files.map((file) => `  ${file}\n`).join('')}\n` +
      `Next:\n  cd ${here}\n  make test    # the rules, then a real API server\n  make up      # a cluster with your operator in it\n`,
  );
}

async function packages(shell: Shell): Promise<Origin> {
  const root = checkoutRoot();
  return root === undefined ? { range: `^${ownVersion()}` } : { tarballs: await packCheckout(root, shell) };
}
