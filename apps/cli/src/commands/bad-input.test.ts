/** What people do wrong most often, and what they are told: the thing, the remedy, and an exit code that scripts can use. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keelson } from '../testing/keelson.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keelson-cli-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

describe('bad input, without a cluster', () => {
  it('given an unknown command, when run, then it is named, with where to look, and nothing is on stdout', async () => {
    expect(await keelson(['frobnicate'])).toEqual({
      code: 2,
      stdout: '',
      stderr: "error: unknown command 'frobnicate'\nremedy: `keelson --help` lists the commands\n",
    });
  });

  it('given an unknown option, when run, then the remedy is the help of that command', async () => {
    const { code, stderr } = await keelson(['render', '--flie', 'x']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('remedy: `keelson render --help`') });
  });

  it('given broken YAML, when rendered, then file, line and column are named', async () => {
    const site = await file('broken.yaml', 'apiVersion: v1\nkind: Website\nmetadata: {name: a\n');
    const { code, stderr } = await keelson(['render', '-f', site]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^error: .*broken\.yaml:\d+:\d+: not valid YAML: /),
    });
  });

  it('given a file that does not exist, when rendered, then it is named', async () => {
    const { code, stderr } = await keelson(['render', '-f', 'nowhere.yaml'], { cwd: folder });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('error: cannot read nowhere.yaml: no such file'),
    });
  });

  it('given an unknown kind, when rendered, then the known kinds are listed', async () => {
    const site = await file('kind.yaml', 'apiVersion: example.keelson.io/v1\nkind: Webpage\nmetadata: {name: a}\n');
    const { code, stderr } = await keelson(['render', '-f', site]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `error: ${site}:1: no operator for Webpage (example.keelson.io/v1)\nremedy: known kinds: Website (example.keelson.io/v1alpha1); choose another project with --config\n`,
    });
  });

  it('given an instance that fails validation, when rendered, then every path is told', async () => {
    const site = await file(
      'invalid.yaml',
      'apiVersion: example.keelson.io/v1alpha1\nkind: Website\nmetadata: {name: a}\nspec: {replicas: 99, html: 7}\n',
    );
    const { code, stderr } = await keelson(['render', '-f', site]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('website/a is not valid:\n  spec.html: '),
    });
    expect(stderr).toContain('\n  spec.replicas: must be at most 20, got 99');
  });

  it('given a config that is none, when run, then the file and what belongs into it are told', async () => {
    const config = await file('keelson.config.mjs', 'export default { operators: [] };\n');
    const { code, stderr } = await keelson(['crds', '--config', config]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(
        `error: ${config} names no operators\nremedy: write \`export default defineConfig(`,
      ),
    });
  });

  it.each([
    ['a syntax error in what it imports', "import './broken.ts';\n", 'broken.ts:2: Expression expected'],
    ['an error that it throws', '\n\nthrow new Error("boom");\n', 'loading.config.ts:3: boom'],
  ])('given a config with %s, when run, then file and line are named', async (_, text, told) => {
    await file('broken.ts', 'export const a = 1;\nexport const b = = 2;\n');
    const config = await file('loading.config.ts', text);
    const { code, stderr } = await keelson(['crds', '--config', config]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`error: ${config} cannot be loaded: ${join(folder, told)}\n`),
    });
  });

  it.each([
    [
      'throws',
      "throw new Error('boom');",
      'error: operator website failed: boom\nremedy: look at the code of the operator; --verbose shows the stack\n',
    ],
    [
      'wants a kind that it does not own',
      "return { kind: 'apply', objects: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }] };",
      /^error: operator website wants a Pod \(v1\) but does not own that kind: add it to owns, which now has [^\n]*\n$/,
    ],
  ])('given an operator that %s, when rendered, then the operator is named, not keelson', async (_, body, told) => {
    const config = await file(
      'faulty.config.mjs',
      `import { website } from ${JSON.stringify(import.meta.resolve('@keelson/example-website'))};
export default { operators: [{ ...website, reconcile() { ${body} } }] };\n`,
    );
    const site = await file(
      'site.yaml',
      'apiVersion: example.keelson.io/v1alpha1\nkind: Website\nmetadata: {name: a}\nspec: {html: hi}\n',
    );
    const { code, stderr } = await keelson(['render', '-f', site, '--config', config]);
    expect(code).toBe(1);
    if (typeof told === 'string') expect(stderr).toBe(told);
    else expect(stderr).toMatch(told);
  });

  it('given NO_COLOR or no terminal, when it fails, then there is no colour, and FORCE_COLOR asks for it', async () => {
    expect((await keelson(['render', '-f', 'x'], { cwd: folder })).stderr).not.toContain('\u001b[');
    expect((await keelson(['render', '-f', 'x'], { cwd: folder, env: { FORCE_COLOR: '1' } })).stderr).toContain(
      '\u001b[31merror:',
    );
    expect(
      (await keelson(['render', '-f', 'x'], { cwd: folder, env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).stderr,
    ).not.toContain('\u001b[');
  });
});

describe('bad input, with a cluster', () => {
  let env: TestEnv;
  beforeAll(async () => {
    env = await startTestEnv();
  });
  afterAll(() => env?.stop());

  it('given no kubeconfig at all, when asked for status, then it says so', async () => {
    const { code, stderr } = await keelson(['status', '--kubeconfig', '/does/not/exist']);
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('kubeconfig /does/not/exist does not exist'),
    });
  });

  it('given a kubeconfig that is no kubeconfig, when asked for status, then the file is named', async () => {
    const config = await file('not-a-kubeconfig', 'hello: world\n');
    const { code, stderr } = await keelson(['status', '--kubeconfig', config]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(config) });
  });

  it('given a cluster that is not there, when asked for status, then its address and the remedy are told, within seconds', async () => {
    const text = (await readFile(env.kubeconfig, 'utf8')).replace(env.url, 'https://127.0.0.1:9');
    const started = Date.now();
    const { code, stderr } = await keelson(['status', '--kubeconfig', await file('unreachable', text)]);
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(/127\.0\.0\.1:9[\s\S]*remedy: is the cluster running/),
    });
    expect(Date.now() - started).toBeLessThan(30_000);
  });

  it('given an expired token, when asked for status, then it says that it was refused, and what to do', async () => {
    const config = await env.kubeconfigFor({
      serviceAccount: { namespace: 'default', name: 'late' },
      expiresInSeconds: -60,
    });
    const { code, stderr } = await keelson(['status', '--kubeconfig', config]);
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('log in again or fetch a fresh kubeconfig'),
    });
  });

  it('given the CRD is not installed, when asked for status, then it is named with the command that installs it', async () => {
    const { code, stderr } = await keelson(['status', '--kubeconfig', env.kubeconfig]);
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr:
        'error: the cluster does not know websites.example.keelson.io: CRD not installed\nremedy: `keelson crds --apply` installs it\n',
    });
  });

  it('given a user without permission, when installing the CRDs, then verb and resource are named', async () => {
    const config = await env.kubeconfigFor({ user: 'jane' });
    const { code, stderr } = await keelson(['crds', '--apply', '--kubeconfig', config]);
    expect({ code, stderr }).toEqual({ code: 5, stderr: expect.stringContaining('customresourcedefinitions') });
    expect(stderr).toContain('jane');
  });
});
