/** `keelson up` as a user runs it: copy what it prints, see it work, press Ctrl-C, find nothing left. */
import { type ChildProcessWithoutNullStreams, execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startTestEnv } from '@keelson/testenv';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keelson, startKeelson, whenPrinted } from '../testing/keelson.ts';

const run = promisify(execFile);

describe('keelson up', () => {
  let folder: string;
  let child: ChildProcessWithoutNullStreams | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keelson-up-test-'));
  });
  afterEach(async () => {
    child?.kill('SIGKILL');
    child = undefined;
    await rm(folder, { recursive: true, force: true });
  });

  /** The pids of every process whose command line names a folder. */
  async function processesOf(dir: string): Promise<string[]> {
    const { stdout } = await run('ps', ['-eo', 'pid=,args=']);
    return stdout.split('\n').filter((line) => line.includes(dir));
  }

  it('given nothing, when it is up, then what it prints works, and Ctrl-C leaves no process and no file', async () => {
    child = startKeelson(['up'], { env: { TMPDIR: folder } });
    const printed = await whenPrinted(child, 'Ctrl-C ends it all.');
    expect(printed).toMatch(/^ready in \d+\.\d s$/m);
    const [, kubeconfig = ''] = /^kubeconfig +(\S+)$/m.exec(printed) ?? [];
    const dir = dirname(dirname(kubeconfig));
    expect(printed.indexOf('kubeconfig  ')).toBeLessThan(printed.indexOf('· installing the CRDs'));
    expect(printed).toContain(`\nkubectl      ${join(dir, 'kubectl')}\nkeelson      ${join(dir, 'keelson')}\n`);
    expect((await processesOf(dir)).length).toBeGreaterThan(3);

    const commands = [...printed.matchAll(/^ {5}(\S.*)$/gm)].map(([, command]) => command ?? '');
    expect(commands).toHaveLength(3);
    const [get = '', scale = '', remove = ''] = await Promise.all(commands);
    const paste = async (command: string) => (await run('sh', ['-c', command])).stdout;
    expect(await paste(get)).toMatch(/default +front +True +1 +http:\/\/front\.default\.svc/);
    await paste(scale);
    await vi.waitFor(async () => expect(await paste(get)).toMatch(/default +front +True +3 /), 30_000);
    await paste(remove);
    const kubectl = get.split(' ')[0];
    await vi.waitFor(
      async () => expect(await paste(`${kubectl} get deployment front -n default`)).toContain('3/3'),
      30_000,
    );
    const before = await readFile(kubeconfig, 'utf8');
    const own = join(folder, 'own.yaml');
    await paste(`${kubectl} config view --raw > ${own}`);
    await paste(`export KUBECONFIG=${own}; ${kubectl} config set-context --current --user=nobody && ${kubectl} get ns`);
    expect(await readFile(own, 'utf8')).toContain('user: nobody');
    await expect(paste(`${kubectl} config set-context --current --user=nobody`)).rejects.toThrow(/a file of your own/);
    expect(await readFile(kubeconfig, 'utf8')).toBe(before);
    await rm(own);
    expect(await readFile(join(dir, 'operators.log'), 'utf8')).not.toContain('"level":"error"');

    const closed = once(child, 'close');
    child.kill('SIGINT');
    expect(await closed).toEqual([0, null]);
    expect(await processesOf(dir)).toEqual([]);
    expect(existsSync(dir)).toBe(false);
    expect(await readdir(folder)).toEqual([]);
  });

  it('given Ctrl-C while the cluster starts, when it ends, then nothing is left', async () => {
    child = startKeelson(['up'], { env: { TMPDIR: folder } });
    await whenPrinted(child, 'starting etcd');
    const closed = once(child, 'close');
    child.kill('SIGINT');
    expect(await closed).toEqual([0, null]);
    await vi.waitFor(async () => expect(await readdir(folder)).toEqual([]), 10_000);
    expect(await processesOf(folder)).toEqual([]);
  });

  it('given an existing cluster, when it is up, then it says what it did, and at the end what it leaves; a second run leaves samples alone', async () => {
    await using env = await startTestEnv({ level: 'cluster', nodes: 1 });
    child = startKeelson(['up', '--kubeconfig', env.kubeconfig], { env: { TMPDIR: folder } });
    const printed = await whenPrinted(child, 'Ctrl-C ends it all.');
    expect(printed).toContain('customresourcedefinition/websites.example.keelson.io created');
    expect(printed).toContain('serviceaccount/keelson created');
    let rest = '';
    child.stdout.on('data', (text) => (rest += String(text)));
    const closed = once(child, 'close');
    child.kill('SIGINT');
    expect(await closed).toEqual([0, null]);
    expect(rest).toContain(
      'What this run has created remains in the cluster:\n  customresourcedefinition/websites.example.keelson.io\n',
    );
    expect(rest).toContain('  website/front -n default\n');
    expect(await env.kubectl(['get', 'websites', '-n', 'default', '-o', 'name'])).toContain(
      'website.example.keelson.io/front',
    );
    expect(await readdir(folder)).toEqual([]);

    const html = ['get', 'website/front', '-n', 'default', '-o', 'jsonpath={.spec.html}'];
    await env.kubectl(['patch', 'website/front', '-n', 'default', '--type=merge', '-p', '{"spec":{"html":"mine"}}']);
    await env.kubectl(['delete', 'clusterrolebinding', 'keelson']);
    child = startKeelson(['up', '--kubeconfig', env.kubeconfig], { env: { TMPDIR: folder } });
    expect(await whenPrinted(child, 'Ctrl-C ends it all.')).toContain('website/front exists already: left as it is\n');
    expect(await env.kubectl(html)).toBe('mine');
    rest = '';
    child.stdout.on('data', (text) => (rest += String(text)));
    const closedAgain = once(child, 'close');
    child.kill('SIGINT');
    await closedAgain;
    expect([...rest.matchAll(/^ {2}(\w+\/\S+)/gm)].map(([, name]) => name)).toEqual(['clusterrolebinding/keelson']);
  });

  it('given no Go and nothing cached, when started, then it says what is missing', async () => {
    const bin = join(folder, 'bin');
    await mkdir(bin);
    for (const tool of ['sh', 'dirname', 'readlink']) {
      await symlink((await run('sh', ['-c', `command -v ${tool}`])).stdout.trim(), join(bin, tool));
    }
    const { code, stderr } = await keelson(['up'], { env: { PATH: bin, KEELSON_CACHE: join(folder, 'cache') } });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^error: [\s\S]*\bGo\b/i) });
    expect(stderr).not.toContain('    at ');
  });

  it('given a number of nodes that is none, when started, then it is refused', async () => {
    expect(await keelson(['up', '--nodes', 'many'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--nodes many is no number of nodes'),
    });
  });
});
