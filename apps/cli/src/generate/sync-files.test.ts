import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { yamlFile } from './files.ts';
import { findStale, writeStale } from './sync-files.ts';

describe('generated files', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'keelson-generate-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const crd = { path: 'deploy/crds/a.yaml', content: yamlFile([{ kind: 'A' }]) };

  it('given an empty folder, when synced, then the file is missing, is written, and then nothing is stale', async () => {
    const stale = await findStale(root, [crd], ['deploy/crds']);
    expect(stale).toEqual([{ path: crd.path, why: 'missing' }]);
    await writeStale(root, [crd], stale);
    expect(await readFile(join(root, crd.path), 'utf8')).toBe(crd.content);
    expect(await findStale(root, [crd], ['deploy/crds'])).toEqual([]);
  });

  it('given an edited file, when synced, then it differs and is put right', async () => {
    await writeStale(root, [crd], [{ path: crd.path, why: 'missing' }]);
    await writeFile(join(root, crd.path), 'edited');
    const stale = await findStale(root, [crd], ['deploy/crds']);
    expect(stale).toEqual([{ path: crd.path, why: 'differs' }]);
    await writeStale(root, [crd], stale);
    expect(await readFile(join(root, crd.path), 'utf8')).toBe(crd.content);
  });

  it('given a file that nobody generates any more, when synced, then it goes, but a file that a person wrote stays', async () => {
    const old = { path: 'deploy/crds/old.yaml', content: yamlFile([{ kind: 'Old' }]) };
    await writeStale(root, [crd, old], await findStale(root, [crd, old], []));
    await writeFile(join(root, 'deploy/crds/by-hand.yaml'), 'kind: ByHand\n');
    const stale = await findStale(root, [crd], ['deploy/crds']);
    expect(stale).toEqual([{ path: old.path, why: 'orphan' }]);
    await writeStale(root, [crd], stale);
    await expect(readFile(join(root, old.path), 'utf8')).rejects.toThrow('ENOENT');
    expect(await readFile(join(root, 'deploy/crds/by-hand.yaml'), 'utf8')).toBe('kind: ByHand\n');
  });
});
