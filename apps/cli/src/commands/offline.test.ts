/** The commands that need no cluster, as a user runs them. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { exitCodes } from '../exit-codes.ts';
import { keelson } from '../testing/keelson.ts';

const root = resolve(import.meta.dirname, '../../../..');
const samples = join(root, 'examples/website/samples');
const documents = (text: string): unknown[] => parseAllDocuments(text).map((document) => document.toJS());
const kinds = (text: string): string[] => documents(text).map((object) => (object as { kind: string }).kind);

const run = promisify(execFile);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keelson-cli-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('render', () => {
  it('given a sample, when rendered, then it is exactly the golden case, and nothing is on stderr', async () => {
    const { stdout, stderr, code } = await keelson(['render', '-f', join(samples, 'shop.yaml')]);
    const expected = await readFile(join(root, 'examples/website/golden/public/expected.yaml'), 'utf8');
    expect({ code, stderr, objects: documents(stdout) }).toEqual({ code: 0, stderr: '', objects: documents(expected) });
  });

  it('given a folder, when rendered, then every file in it is, in apply order each', async () => {
    const { stdout } = await keelson(['render', '-f', samples]);
    expect(kinds(stdout)).toHaveLength(3 + 3 + 4);
    expect(kinds(stdout).slice(0, 3)).toEqual(['ConfigMap', 'Service', 'Deployment']);
  });

  it('given standard input and -o json, when rendered, then it is one List', async () => {
    const stdin = await readFile(join(samples, 'front.yaml'), 'utf8');
    const { stdout, code } = await keelson(['render', '-f', '-', '-o', 'json'], { stdin });
    const list = JSON.parse(stdout) as { kind: string; items: { kind: string }[] };
    expect({ code, kind: list.kind, items: list.items.map(({ kind }) => kind).sort() }).toEqual({
      code: 0,
      kind: 'List',
      items: ['ConfigMap', 'Deployment', 'Service'],
    });
  });

  it('given a spec that the operator rejects, when rendered, then the reason is told and the exit code says bad input', async () => {
    const stdin =
      'apiVersion: example.keelson.io/v1alpha1\nkind: Website\nmetadata: {name: a}\nspec: {pages: {index.html: "", a/b: ""}}\n';
    const { code, stderr, stdout } = await keelson(['render', '-f', '-'], { stdin });
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('error: stdin:1: website/a is rejected: BadFileName: '),
    });
  });
});

describe('help of render', () => {
  it('given its output has no uid of an owner, when asked for help, then it says so and does not offer it to kubectl', async () => {
    const { stdout } = await keelson(['render', '--help']);
    expect(stdout.replace(/\s+/g, ' ')).toContain('the uid of their owner is shown as zeros');
    expect(stdout).not.toContain('kubectl');
  });
});

describe('crds and rbac', () => {
  it('given the built-in operators, when printed, then the CRD and all of the RBAC are there', async () => {
    expect(kinds((await keelson(['crds'])).stdout)).toEqual(['CustomResourceDefinition']);
    const { stdout } = await keelson(['rbac', '-n', 'ops']);
    expect(kinds(stdout)[0]).toBe('ServiceAccount');
    expect(documents(stdout)[0]).toMatchObject({ metadata: { name: 'keelson', namespace: 'ops' } });
    expect(kinds(stdout)).toContain('ClusterRoleBinding');
  });

  it('given another namespace than that of the config, when printed, then it takes nothing away from the installation there', async () => {
    const wide = (text: string) =>
      documents(text).filter((object) => (object as { kind: string }).kind.startsWith('ClusterRole'));
    const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole' };
    expect(wide((await keelson(['rbac'])).stdout)).toMatchObject([
      { metadata: { name: 'keelson' } },
      { metadata: { name: 'keelson' }, roleRef: { ...role, name: 'keelson' } },
    ]);
    expect(wide((await keelson(['rbac', '-n', 'ops'])).stdout)).toMatchObject([
      { metadata: { name: 'keelson.ops' } },
      {
        metadata: { name: 'keelson.ops' },
        roleRef: { ...role, name: 'keelson.ops' },
        subjects: [{ kind: 'ServiceAccount', name: 'keelson', namespace: 'ops' }],
      },
    ]);
  });

  it('given --watch-namespace, when printed, then rights on namespaced kinds are confined to it', async () => {
    const { stdout } = await keelson(['rbac', '--watch-namespace', 'shop']);
    const wide = documents(stdout).find((object) => (object as { kind: string }).kind === 'ClusterRole') as {
      rules: { resources: string[] }[];
    };
    expect(wide.rules.flatMap(({ resources }) => resources)).toEqual(['priorityclasses']);
  });
});

describe('explain', () => {
  it('given no argument, when asked, then the operators are listed', async () => {
    expect((await keelson(['explain'])).stdout).toMatch(/^OPERATOR +KIND +OWNS +WHAT IT DOES\nwebsite +Website /);
  });

  it('given a kind by its short name, when asked, then fields, children and permissions with reasons are told', async () => {
    const { stdout } = await keelson(['explain', 'site']);
    expect(stdout).toContain('spec.replicas  integer (int32) = 1, 1 … 20');
    expect(stdout).toContain('rule: exactly one of html, pages must be set');
    expect(stdout).toContain('PriorityClass (scheduling.k8s.io/v1), cluster-scoped');
    expect(stdout).toMatch(/websites\.example\.keelson\.io\/status +patch +website tells how an instance does/);
  });

  it('given a field, when asked, then that field is told, also as data', async () => {
    const { stdout } = await keelson(['explain', 'website.spec.replicas', '-o', 'yaml']);
    expect(parse(stdout)).toMatchObject({ fields: [{ path: 'spec.replicas', default: 1, limits: ['1 … 20'] }] });
  });

  it('given a field that does not exist, when asked, then its neighbours are listed', async () => {
    const { code, stderr } = await keelson(['explain', 'website.spec.replica']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        "error: website.spec has no field 'replica'\nremedy: its fields: html, pages, image, replicas, port, public\n",
    });
  });

  it('given an unknown operator, when asked, then the known ones are listed', async () => {
    const { code, stderr } = await keelson(['explain', 'blog']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "error: no operator or kind 'blog'\nremedy: known: website\n",
    });
  });
});

describe('generate', () => {
  it('given a project, when generated, edited and checked, then stale files are listed and the exit code is 4', async () => {
    const project = join(folder, 'project');
    await mkdir(project);
    await writeFile(
      join(project, 'keelson.config.ts'),
      "import { website } from '@keelson/example-website';\nexport default { operators: [website] };\n",
    );
    await symlink(join(root, 'node_modules'), join(project, 'node_modules'));
    const check = () => keelson(['generate', '--check'], { cwd: project });
    expect((await check()).stderr).toContain('deploy/crds/websites.example.keelson.io.yaml: missing');
    expect(await keelson(['generate'], { cwd: project })).toMatchObject({ code: 0 });
    expect(await check()).toMatchObject({ code: 0, stderr: '' });
    await writeFile(join(project, 'deploy/rbac/keelson.yaml'), 'edited\n');
    expect(await check()).toEqual({
      code: 4,
      stdout: '',
      stderr:
        'error: 1 of 4 generated files are stale:\n  deploy/rbac/keelson.yaml: differs\nremedy: `keelson generate` writes them; commit the result\n',
    });
  });

  it('given a folder without a config, when generated, then it says what is missing', async () => {
    expect(await keelson(['generate'], { cwd: folder })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no keelson.config.ts in'),
    });
  });
});

describe('help and version', () => {
  it('given every command, when asked for help, then it has examples', async () => {
    const { stdout } = await keelson(['--help']);
    const names = [...stdout.matchAll(/^ {2}([a-z]+)(?: |$)/gm)]
      .map(([, name]) => name ?? '')
      .filter((name) => !['keelson', 'help', 'version', 'new'].includes(name));
    expect(names.length).toBeGreaterThan(7);
    for (const name of names)
      expect((await keelson([name, '--help'])).stdout).toContain(`Examples:\n  keelson ${name}`);
  });

  it('given the topic exit-codes, when asked for help, then every code is told', async () => {
    const { stdout } = await keelson(['help', 'exit-codes']);
    for (const { code, meaning } of Object.values(exitCodes)) expect(stdout).toContain(`${code}  ${meaning}`);
  });

  it('given --version, when asked, then it is the bare version, for scripts', async () => {
    expect(await keelson(['--version'])).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' });
  });

  it('given -o json, when asked for the version, then it is data', async () => {
    const { stdout } = await keelson(['version', '-o', 'json']);
    expect(JSON.parse(stdout)).toEqual({ keelson: '0.1.0', node: process.versions.node });
  });
});

describe('the program of a checkout', () => {
  it('given nothing is installed, when started, then it says how to install it', async () => {
    await cp(join(root, 'bin/keelson'), join(folder, 'checkout/bin/keelson'));
    const failed = await run(join(folder, 'checkout/bin/keelson'), ['version']).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: the project's dependencies are not installed\nremedy: run `make install` in .*checkout\n/,
      ),
    });
  });

  it('given it is called through a link, when started, then it finds its checkout', async () => {
    await symlink(join(root, 'bin/keelson'), join(folder, 'kubectl-keelson'));
    expect((await run(join(folder, 'kubectl-keelson'), ['--version'])).stdout).toBe('0.1.0\n');
  });
});

describe('the installed program', () => {
  const program = join(root, 'apps/cli/bin/keelson.cjs');
  it('given a Node that is too old, when started, then it says which one is needed', async () => {
    const pretend = join(folder, 'pretend.cjs');
    await writeFile(pretend, "Object.defineProperty(process.versions, 'node', { value: '18.20.0' });\n");
    const failed = await run(process.execPath, ['--require', pretend, program, 'version']).catch(
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: keelson needs Node 22\.19 or newer, this is 18\.20\.0\nremedy: /),
    });
  });
});
