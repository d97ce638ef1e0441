/** `keelson new operator`: the project that it writes passes its own tests, untouched. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keelson } from '../testing/keelson.ts';
import { namesFor } from './names.ts';
import { writeProject } from './write-project.ts';

const run = promisify(execFile);

describe('keelson new operator', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keelson-new-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('given a name, when its project is made, then its own make test, make generate and make check pass, untouched', async () => {
    const { code, stdout, stderr } = await keelson(['new', 'operator', 'demo'], { cwd: folder });
    expect({ code, stderr: stderr.replace(/^· packing.*\n/, '') }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Wrote Demo (demos.example.com) to demo:');
    const project = join(folder, 'demo');
    const rules = (await readFile(join(project, 'src/operator.ts'), 'utf8')).split('\n').length;
    expect(rules).toBeLessThan(50);
    const env = outside();
    const make = (target: string) => run('make', [target], { cwd: project, env });
    // A first build of the parts takes longer than the hooks of a test may: it comes before vitest, and tells how far it is.
    for (const [target, then] of [
      ['test', 'vitest run'],
      ['up', 'keelson up'],
    ] as const) {
      const { stdout: steps } = await run('make', ['-n', target], { cwd: project, env });
      expect(steps).toMatch(new RegExp(`^keelson-testbed ensure >/dev/null\\n${then}$`, 'm'));
    }
    expect((await make('test')).stdout).toMatch(/Tests .*4 passed/);
    const empty = { PATH: '/nowhere', KEELSON_CACHE: join(folder, 'empty-cache') };
    const testbed = join(project, 'node_modules/.bin/keelson-testbed');
    await expect(run(process.execPath, [testbed, 'ensure'], { env: empty })).rejects.toMatchObject({
      stderr: expect.stringMatching(/controlplane: building [\s\S]*\bGo\b/),
    });
    await make('generate');
    await make('check');
    expect(await readdir(join(project, 'deploy/crds'))).toEqual(['demos.example.com.yaml']);
  }, 900_000);

  it('given an installed CLI, when a project is made, then our packages come from the registry, and no word of the template is left', async () => {
    const project = join(folder, 'proxy');
    const files = await writeProject(project, namesFor('tcp-proxy', 'net.example.org'), { range: '^0.1.0' });
    expect(files).toContain('.gitignore');
    expect(files).toContain('samples/tcp-proxy.yaml');
    const manifest = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')) as {
      dependencies: object;
      devDependencies: object;
    };
    expect(manifest.dependencies).toEqual({ '@keelson/runtime': '^0.1.0', '@keelson/schema': '^0.1.0' });
    for (const file of files) expect(await readFile(join(project, file), 'utf8')).not.toMatch(/widget/i);
    const resource = await readFile(join(project, 'src/resource.ts'), 'utf8');
    expect(resource).toContain("group: 'net.example.org'");
    expect(resource).toContain("kind: 'TcpProxy',\n  plural: 'tcpproxies'");
  });

  it('given a folder that is not empty, when asked for a project there, then it is refused and left alone', async () => {
    await mkdir(join(folder, 'full'));
    await writeFile(join(folder, 'full/note'), '');
    const { code, stderr } = await keelson(['new', 'operator', 'full'], { cwd: folder });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^error: .*full is not empty\nremedy: /),
    });
    expect(await readdir(join(folder, 'full'))).toEqual(['note']);
  });

  it.each([
    ['Demo', "'Demo' is no name for an operator"],
    ['deployment', 'Deployment is a kind of Kubernetes itself'],
  ])('given the name %s, when asked, then it is refused with a reason', async (name, reason) => {
    expect(await keelson(['new', 'operator', name], { cwd: folder })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(reason),
    });
  });
});

/** The environment of a developer who is not inside this checkout: none of its tools, nothing of make's or vitest's. */
function outside(): NodeJS.ProcessEnv {
  const ours = /^(VITEST|NODE_OPTIONS$|NODE_ENV$|MAKE|MFLAGS$|npm_)/;
  const PATH = (process.env.PATH ?? '').split(':').filter((folder) => !folder.endsWith('node_modules/.bin'));
  const inherited = Object.entries(process.env).filter(([name]) => !ours.test(name));
  return { ...Object.fromEntries(inherited), PATH: PATH.join(':') };
}
