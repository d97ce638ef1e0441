/**
 * The packages are publishable: what `npm pack` makes installs into an empty project outside the repository, its types resolve
 * with a plain TypeScript configuration that checks libraries too, and it runs on Node 22 and 24 with none of our toolchain
 * (consumer.ts calls startTestEnv: its API server is a real one).
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const published = [
  'packages/schema',
  'packages/kube',
  'packages/runtime',
  'testbed',
  'packages/testenv',
  'examples/website',
  'apps/cli',
];
const outsidePath = (process.env.PATH ?? '')
  .split(':')
  .filter((folder) => !folder.endsWith('node_modules/.bin'))
  .join(':');
const nodes = { 22: '22.23.3', 24: '24.21.0' };

describe('the packages as published', () => {
  const project = mkdtempSync(join(tmpdir(), 'keelson-pack-'));
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, {
      cwd: project,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      // Not the tools of this checkout: npm would run on its Node, which knows nothing of how the machine is set up.
      env: { ...process.env, NODE_OPTIONS: '', PATH: outsidePath },
    });

  beforeAll(() => {
    const tarballs = join(project, 'tarballs');
    execFileSync('mkdir', ['-p', tarballs]);
    for (const folder of published) {
      execFileSync('npm', ['pack', '--silent', '--pack-destination', tarballs], {
        cwd: join(root, folder),
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    }
    const dependencies = Object.fromEntries(
      readdirSync(tarballs).map((file) => [
        `@keelson/${file.replace(/^keelson-(.*)-\d+\.\d+\.\d+\.tgz$/, '$1')}`,
        `file:tarballs/${file}`,
      ]),
    );
    writeFileSync(
      join(project, 'package.json'),
      JSON.stringify({
        name: 'consumer',
        private: true,
        type: 'module',
        dependencies: {
          ...dependencies,
          typescript: '7.0.2',
          '@types/node': '24.19.2',
          node22: `npm:node@${nodes[22]}`,
          node24: `npm:node@${nodes[24]}`,
        },
        overrides: dependencies,
        allowScripts: { node: true, node22: true, node24: true },
      }),
    );
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          module: 'NodeNext',
          target: 'ES2024',
          lib: ['ES2024'],
          types: ['node'],
          strict: true,
          skipLibCheck: false,
          outDir: 'out',
        },
        include: ['consumer.ts'],
      }),
    );
    cpSync(join(import.meta.dirname, 'consumer/consumer.ts'), join(project, 'consumer.ts'));
    run('npm', 'install', '--no-audit', '--no-fund', '--loglevel=error');
  });

  afterAll(() => rmSync(project, { recursive: true, force: true }));

  it('resolves its types, libraries checked too', () => {
    expect(run('node_modules/.bin/tsc', '-p', '.')).toBe('');
  });

  it.each([22, 24] as const)('runs an operator on Node %i', (major) => {
    const node = join(project, `node_modules/node${major}/bin/node`);
    expect(run(node, 'out/consumer.js').trim().split('\n').slice(-3)).toEqual([
      'rendered true',
      'applied hello world',
      `node ${major} done`,
    ]);
  });

  it.each([22, 24] as const)('has a command that runs on Node %i', (major) => {
    const node = join(project, `node_modules/node${major}/bin/node`);
    const keelson = (...args: string[]) => run(node, 'node_modules/@keelson/cli/bin/keelson.cjs', ...args);
    expect(keelson('--version').trim()).toMatch(/^\d+\.\d+\.\d+/);
    expect(keelson('crds')).toContain('name: websites.example.keelson.io');
  });
});
