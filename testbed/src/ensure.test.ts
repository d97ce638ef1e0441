import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cacheDirectory, cleanParts, listParts, partPath, recipeDirectory } from './cache.ts';
import { ensureBuilt } from './ensure.ts';
import { checkGo } from './go.ts';
import { findPart, type Part, parts } from './parts.ts';

const greeter: Part = {
  name: 'greeter',
  title: 'a program that says who it is',
  version: '1.0.0',
  coldBuild: 'a second',
  standard: false,
  recipe: { kind: 'go', package: '.', variables: { 'main.who': 'the part' } },
};

const source = (body: string) => `package main\n\nimport "fmt"\n\nvar who string\n\nfunc main() { ${body} }\n`;

describe('ensuring a part', () => {
  let dir: string;
  let recipe: string;
  let cache: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'keelson-testbed-'));
    recipe = join(dir, 'recipe');
    cache = join(dir, 'cache');
    await mkdir(recipe);
    await writeFile(join(recipe, 'go.mod'), 'module example.test/greeter\n\ngo 1.24\n');
    await writeFile(join(recipe, 'main.go'), source('fmt.Print(who)'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  test('builds it once, though several ask at once, and it runs', async () => {
    const lines: string[] = [];
    const asked = [1, 2, 3].map(() => ensureBuilt(greeter, recipe, { cache, onProgress: (line) => lines.push(line) }));
    const answers = await Promise.all(asked);
    expect(answers.map((answer) => answer.built).sort()).toEqual([false, false, true]);
    const [path = ''] = new Set(answers.map((answer) => answer.path));
    expect((await promisify(execFile)(path)).stdout).toBe('the part');
    expect(lines[0]).toContain('greeter: building a program that says who it is 1.0.0 from source');
    expect(lines.some((line) => line.includes('waiting for process'))).toBe(true);
    expect(lines.at(-1)).toContain(`kept at ${path}`);

    const silence: string[] = [];
    const again = await ensureBuilt(greeter, recipe, { cache, onProgress: (line) => silence.push(line) });
    expect(again).toEqual({ path, built: false });
    expect(silence).toEqual([]);
    expect(await readdir(join(cache, 'parts'))).toHaveLength(1);
  });

  test('builds anew when the recipe or a build argument changes', async () => {
    const before = await partPath(greeter, cache, recipe);
    expect(await partPath(greeter, cache, recipe)).toBe(before);
    const renamed = { ...greeter, recipe: { ...greeter.recipe, variables: { 'main.who': 'another' } } };
    expect(await partPath(renamed, cache, recipe)).not.toBe(before);
    await writeFile(join(recipe, 'main.go'), source('fmt.Println(who)'));
    expect(await partPath(greeter, cache, recipe)).not.toBe(before);
  });

  test('a failed build shows the compiler’s words, leaves nothing behind and can be repeated', async () => {
    await writeFile(join(recipe, 'main.go'), source('fmt.Print(whom)'));
    await expect(ensureBuilt(greeter, recipe, { cache })).rejects.toThrow(/go build failed.*undefined: whom/s);
    expect(await readdir(join(cache, 'parts'))).toEqual([]);
    await writeFile(join(recipe, 'main.go'), source('fmt.Print(who)'));
    expect((await ensureBuilt(greeter, recipe, { cache })).built).toBe(true);
  });

  test('a missing or old Go is named together with the version that is needed and where to get it', async () => {
    await expect(checkGo(recipe, 'no-such-go')).rejects.toThrow(
      'Go is needed to build test parts, but there is no "no-such-go" on the PATH: ' +
        'install Go 1.24 or newer (https://go.dev/dl/) and put its bin folder on the PATH',
    );
    const old = join(dir, 'old-go');
    await writeFile(old, '#!/bin/sh\necho go1.9.7\n');
    await chmod(old, 0o755);
    await expect(checkGo(recipe, old)).rejects.toThrow(/^Go 1\.24 or newer is needed .* is 1\.9\.7: install Go 1\.24/);
    await writeFile(old, '#!/bin/sh\necho go1.24rc1\n');
    await checkGo(recipe, old);
  });

  test('clears away what a killed build of the same part has left', async () => {
    const abandoned = `${dirname(await partPath(greeter, cache, recipe))}.building-long-ago`;
    await mkdir(abandoned, { recursive: true });
    const { path } = await ensureBuilt(greeter, recipe, { cache });
    expect(await readdir(join(cache, 'parts'))).toEqual([basename(dirname(path))]);
  });

  test('cleaning removes what was built and the list shows it', async () => {
    expect((await listParts(cache)).map(({ name, size }) => ({ name, size }))).toEqual(
      parts.map(({ name }) => ({ name, size: undefined })),
    );
    await ensureBuilt(greeter, recipe, { cache });
    await cleanParts(cache);
    expect(await readdir(cache)).toEqual([]);
  });
});

describe('the parts', () => {
  test('that a first build must wait for are those of a test environment, and no more', () => {
    expect(parts.filter((part) => part.standard).map((part) => part.name)).toEqual(['controlplane', 'kwok']);
  });

  test.each(parts.map((part) => part.name))('%s has a recipe with pinned versions', async (name) => {
    const part = findPart(name);
    const pins = part.recipe.kind === 'maven' ? ['pom.xml', 'checksums.txt'] : ['go.mod', 'go.sum'];
    expect(await readdir(recipeDirectory(part))).toEqual(expect.arrayContaining(pins));
  });

  test('an unknown part is refused with the names there are', () => {
    expect(() => findPart('nothing')).toThrow(/^there is no part "nothing"; the parts are: controlplane, kwok, crds, /);
  });

  test('the cache folder follows $KEELSON_CACHE, then $XDG_CACHE_HOME, then the home folder', () => {
    expect(cacheDirectory({ KEELSON_CACHE: '/a', XDG_CACHE_HOME: '/b' })).toBe('/a');
    expect(cacheDirectory({ XDG_CACHE_HOME: '/b' })).toBe('/b/keelson');
    expect(cacheDirectory({})).toMatch(/\/\.cache\/keelson$/);
  });
});
