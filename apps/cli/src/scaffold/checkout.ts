/**
 * From a source checkout there is no registry that has our packages: a new project gets them as tarballs. They are built in a
 * copy outside the checkout, and kept in the cache by the content of their sources, so that nothing here is ever stale and a
 * checkout is never written to.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder } from '../cache-folder.ts';
import { failure } from '../failure.ts';
import type { Shell } from '../shell.ts';

const run = promisify(execFile);

interface Workspace {
  readonly name: string;
  readonly version: string;
  /** From the root of the checkout. */
  readonly folder: string;
  readonly needs: readonly string[];
}

export interface Tarball {
  readonly name: string;
  readonly version: string;
  readonly file: string;
}

/** The root of the checkout that this CLI runs from, or undefined when it is an installed package. */
export function checkoutRoot(): string | undefined {
  return import.meta.url.endsWith('.ts')
    ? fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/, '')
    : undefined;
}

/** Our packages as tarballs, built if their sources have changed since the last time. */
export async function packCheckout(root: string, shell: Shell): Promise<Tarball[]> {
  const workspaces = inBuildOrder(await readWorkspaces(root));
  const cache = join(cacheFolder(shell.env), 'packages', await contentKey(root, workspaces));
  const tarballs = workspaces.map(({ name, version }) => ({
    name,
    version,
    file: join(cache, `${name.slice(1).replace('/', '-')}-${version}.tgz`),
  }));
  const kept = new Set(await readdir(cache).catch(() => []));
  if (tarballs.every(({ file }) => kept.has(relative(cache, file)))) return tarballs;
  shell.note(`· packing ${workspaces.length} packages of this checkout (kept in ${cache})\n`);
  const stage = await mkdtemp(join(tmpdir(), 'keelson-pack-'));
  try {
    await copyForBuild(root, stage, workspaces);
    const out = join(stage, 'tarballs');
    await mkdir(out);
    for (const { folder } of workspaces) {
      await step(
        folder,
        process.execPath,
        [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(folder, 'tsconfig.build.json')],
        stage,
      );
      await step(
        folder,
        'npm',
        ['pack', '--silent', '--ignore-scripts', '--pack-destination', out],
        join(stage, folder),
      );
    }
    await mkdir(join(cache, '..'), { recursive: true });
    // Whoever comes second keeps the first one's result: both are the same content.
    await rename(out, cache).catch(async () => {
      await rm(cache, { recursive: true, force: true });
      await cp(out, cache, { recursive: true });
    });
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
  return tarballs;
}

async function step(folder: string, command: string, args: string[], cwd: string): Promise<void> {
  try {
    await run(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw failure(
      'failed',
      `${folder} does not build:\n${`${stdout}${stderr}`.trim()}`,
      '`make check` in the checkout shows what is wrong',
      error,
    );
  }
}

async function readWorkspaces(root: string): Promise<Workspace[]> {
  const { workspaces } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { workspaces: string[] };
  const folders = await Promise.all(
    workspaces.map(async (pattern) => {
      if (!pattern.endsWith('/*')) return [pattern];
      const parent = pattern.slice(0, -2);
      const entries = await readdir(join(root, parent), { withFileTypes: true }).catch(() => []);
      return entries.filter((entry) => entry.isDirectory()).map((entry) => join(parent, entry.name));
    }),
  );
  const read = folders.flat().map(async (folder) => {
    const text = await readFile(join(root, folder, 'package.json'), 'utf8');
    const {
      name,
      version,
      dependencies = {},
    } = JSON.parse(text) as { name: string; version: string; dependencies?: Record<string, string> };
    return { name, version, folder, needs: Object.keys(dependencies).filter((need) => need.startsWith('@keelson/')) };
  });
  return Promise.all(read);
}

/** What the CLI needs, each after what it needs itself. */
function inBuildOrder(workspaces: readonly Workspace[]): Workspace[] {
  const order: Workspace[] = [];
  const visit = (name: string): void => {
    const workspace = workspaces.find((candidate) => candidate.name === name);
    if (workspace === undefined || order.includes(workspace)) return;
    workspace.needs.forEach(visit);
    order.push(workspace);
  };
  visit('@keelson/cli');
  return order;
}

const isSource = (path: string): boolean => !/(^|\/)(node_modules|dist)(\/|$)/.test(path) && !/\.test\.ts$/.test(path);

async function contentKey(root: string, workspaces: readonly Workspace[]): Promise<string> {
  const hash = createHash('sha256');
  for (const { folder } of workspaces) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)));
    for (const file of files.filter(isSource).sort()) hash.update(`${file}\0`).update(await readFile(join(root, file)));
  }
  for (const file of ['tsconfig.base.json', 'tsconfig.build.json']) hash.update(await readFile(join(root, file)));
  return hash.digest('hex').slice(0, 16);
}

/** The copy resolves our packages to each other in the copy, and everything else to what the checkout has installed. */
async function copyForBuild(root: string, stage: string, workspaces: readonly Workspace[]): Promise<void> {
  for (const file of ['tsconfig.base.json', 'tsconfig.build.json']) await cp(join(root, file), join(stage, file));
  await writeFile(join(stage, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await mkdir(join(stage, 'node_modules/@keelson'), { recursive: true });
  for (const entry of await readdir(join(root, 'node_modules'))) {
    if (entry !== '@keelson') await symlink(join(root, 'node_modules', entry), join(stage, 'node_modules', entry));
  }
  for (const { name, folder } of workspaces) {
    await cp(join(root, folder), join(stage, folder), {
      recursive: true,
      filter: (path) => isSource(relative(root, path)),
    });
    await symlink(join(stage, folder), join(stage, 'node_modules', name));
  }
}
