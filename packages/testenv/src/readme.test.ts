import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const packageDir = new URL('..', import.meta.url);
const readme = readFileSync(new URL('README.md', packageDir), 'utf8');
const examples = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);

/** What each example must print, in the order of the README. */
const expected = [
  /hello/,
  /web-\w+-\w+ .* node-\d/,
  /^testenv-admin create configmaps one 201\n0\n$/,
  /"?c"? .*[Cc]onflict[\s\S]*^1$/m,
];

describe('the examples of the README', () => {
  test('are all known', () => expect(examples).toHaveLength(expected.length));

  test.each(expected.map((output, index) => [index + 1, output] as const))(
    'number %i runs as it stands',
    async (number, output) => {
      const args = ['--conditions=keelson-source', '--input-type=module-typescript', '-e', examples[number - 1] ?? ''];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: fileURLToPath(packageDir) });
      expect(stdout).toMatch(output);
    },
  );
});
