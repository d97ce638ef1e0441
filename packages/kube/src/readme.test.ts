import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, expect, it } from 'vitest';

let env: TestEnv;

beforeAll(async () => {
  env = await startTestEnv();
});

afterAll(() => env?.stop());

const run = promisify(execFile);
const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
const examples = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);

it.each(examples.map((code, index) => [index + 1, code] as const))(
  'example %i of the README prints what it says',
  async (number, code) => {
    // Beside the code, so that it resolves packages as the code does.
    const file = new URL(`./.readme-${process.pid}-${number}.ts`, import.meta.url);
    await writeFile(file, code);
    try {
      const { stdout } = await run(
        process.execPath,
        ['--conditions=keelson-source', '--disable-warning=ExperimentalWarning', file.pathname],
        {
          env: { ...process.env, KUBECONFIG: env.kubeconfig },
        },
      );
      const expected = [...code.matchAll(/\/\/ prints: (.*)$/gm)].map(([, line]) => line);
      expect(stdout.trim().split('\n')).toEqual(expected);
    } finally {
      await rm(file);
    }
  },
);
