/**
 * `keelson new feature`, as docs/guides/features.md tells it: in a copy of the checkout, and what it writes passes untouched.
 * `GOLDEN=write make test ARGS=apps/cli/src/scaffold/new-feature.test.ts` writes the golden files of the template anew: read the diff.
 */
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
    if (process.env.GOLDEN === 'write') await renewTemplate(copy);
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
    expect((await test(copy, folder, {})).stdout).toMatch(/Tests .*4 passed/);
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

function test(copy: string, folder: string, env: Readonly<Record<string, string>>) {
  const { GOLDEN: _, ...inherited } = process.env;
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const options = { cwd: copy, env: { ...inherited, ...env } };
  return run(process.execPath, [vitest, 'run', '--project', 'beside', folder], options);
}

/** The template is a feature of its own name: made, written anew, and taken away again. */
async function renewTemplate(copy: string): Promise<void> {
  const features = join(copy, 'operators/security/src/features');
  const list = await readFile(join(features, 'index.ts'), 'utf8');
  await keelson(['new', 'feature', 'sample-tool'], { cwd: copy });
  await test(copy, 'operators/security/src/features/sample-tool', { GOLDEN: 'write' });
  await cp(join(features, 'sample-tool/golden'), join(root, 'apps/cli/templates/feature/golden'), { recursive: true });
  await rm(join(features, 'sample-tool'), { recursive: true });
  await writeFile(join(features, 'index.ts'), list);
}
