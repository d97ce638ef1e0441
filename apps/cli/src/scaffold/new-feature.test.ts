/** `keelson new feature`, as docs/guides/features.md tells it: in a copy of the checkout, and what it writes passes untouched. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keelson } from '../testing/keelson.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../../..');
const bin = (name: string): string => join(root, 'node_modules/.bin', name);

describe('keelson new feature', () => {
  let copy: string;
  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), 'keelson-feature-'));
    for (const file of [
      'operators',
      'tests/reporter.ts',
      'vitest.config.ts',
      'biome.json',
      'tsconfig.base.json',
      'package.json',
      '.gitignore',
    ])
      await cp(join(root, file), join(copy, file), {
        recursive: true,
        filter: (path) => !path.endsWith('node_modules'),
      });
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    await writeFile(
      join(copy, 'tsconfig.json'),
      JSON.stringify({
        extends: './tsconfig.base.json',
        compilerOptions: { noEmit: true },
        include: ['operators/*/src'],
      }),
    );
  });
  afterAll(() => rm(copy, { recursive: true, force: true }));

  it('given a checkout, when a feature is made, then its tests pass, types and lint are clean, and it is in the list', async () => {
    const { code, stdout, stderr } = await keelson(['new', 'feature', 'port-scan'], { cwd: copy });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(
      'Wrote the feature port_scan to operators/security/src/features/port-scan:\n  README.md\n',
    );
    const folder = 'operators/security/src/features/port-scan';
    for (const file of await readdir(join(copy, folder), { recursive: true, withFileTypes: true })) {
      if (file.isFile()) expect(await readFile(join(file.parentPath, file.name), 'utf8')).not.toMatch(/sample.?tool/i);
    }
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const tested = await run(process.execPath, [vitest, 'run', '--project', 'beside', folder], { cwd: copy });
    expect(tested.stdout).toMatch(/Tests .*4 passed/);
    await run(bin('tsc'), ['-p', 'tsconfig.json'], { cwd: copy });
    await run(bin('biome'), ['check', 'operators/security/src/features'], { cwd: copy });
  }, 300_000);

  it.each([
    ['Demo', "'Demo' is no name for a feature"],
    ['osquery', 'operators/security/src/features/osquery exists already'],
    ['features', 'operators/security/src/features/index.ts uses the name features already'],
  ])('given the name %s, when asked, then it is refused with a reason and nothing changes', async (name, reason) => {
    const before = await readFile(join(copy, 'operators/security/src/features/index.ts'), 'utf8');
    const { code, stderr } = await keelson(['new', 'feature', name], { cwd: join(copy, 'operators/security/src') });
    const here = reason.replace('operators/security/src/', '');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(`^error: ${here}\nremedy: `) });
    expect(await readFile(join(copy, 'operators/security/src/features/index.ts'), 'utf8')).toBe(before);
  });

  it('given a folder that is no checkout, when asked, then it says where to go', async () => {
    const { code, stderr } = await keelson(['new', 'feature', 'demo'], { cwd: tmpdir() });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^error: no list of features in .*\nremedy: go to a checkout of Keelson/),
    });
  });
});
