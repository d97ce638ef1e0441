import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { recipeDirectory } from './cache.ts';
import { ensureBuilt } from './ensure.ts';
import { findPart, type ModuleFiles, type Part } from './parts.ts';

const tetragon = { to: 'tetragon', module: 'github.com/cilium/tetragon@v1.7.0' };
const folder = 'install/kubernetes/tetragon/crds-yaml';
const files = (...sources: ModuleFiles[]): Part => ({
  ...findPart('crds'),
  recipe: { kind: 'module-files', sources },
});

describe('a part of files from Go modules', () => {
  let dir: string;
  let recipe: string;
  let cache: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'keelson-testbed-'));
    recipe = join(dir, 'recipe');
    cache = join(dir, 'cache');
    await cp(recipeDirectory(findPart('crds')), recipe, { recursive: true });
  });
  afterEach(() => rm(dir, { recursive: true }));

  test('is a folder with the YAML files of each source, which can be removed again', async () => {
    const lines: string[] = [];
    const part = files({ ...tetragon, folders: [folder] });
    const { path } = await ensureBuilt(part, recipe, { cache, onProgress: (line) => lines.push(line) });
    expect(lines[0]).toMatch(/^crds: fetching CustomResourceDefinitions of Tetragon/);
    expect((await readdir(join(path, 'tetragon'))).sort()).toEqual([
      'cilium.io_podinfo.yaml',
      'cilium.io_tracingpolicies.yaml',
      'cilium.io_tracingpoliciesnamespaced.yaml',
    ]);
    await writeFile(join(path, 'tetragon', 'cilium.io_podinfo.yaml'), 'writable');
    expect((await ensureBuilt(part, recipe, { cache })).built).toBe(false);
  });

  test('is refused when a folder has no such files, or when two folders would overwrite each other', async () => {
    const missing = files({ ...tetragon, folders: ['no/such/folder'] });
    await expect(ensureBuilt(missing, recipe, { cache })).rejects.toThrow(
      'github.com/cilium/tetragon@v1.7.0 has no *.yaml in no/such/folder',
    );
    const twice = files({ ...tetragon, folders: [folder, folder] });
    await expect(ensureBuilt(twice, recipe, { cache })).rejects.toThrow('EEXIST');
    expect(await readdir(join(cache, 'parts'))).toEqual([]);
  });

  test('is refused when a module is not the one whose checksum we keep', async () => {
    const sums = await readFile(join(recipe, 'go.sum'), 'utf8');
    await writeFile(join(recipe, 'go.sum'), sums.replaceAll(/(tetragon v1\.7\.0 h1:)./g, '$1X'));
    await expect(ensureBuilt(files({ ...tetragon, folders: [folder] }), recipe, { cache })).rejects.toThrow(
      /go mod download github\.com\/cilium\/tetragon@v1\.7\.0 failed in .*checksum mismatch/s,
    );
  });
});
