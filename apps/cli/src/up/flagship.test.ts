/** `make up` with the project of this repository: the security stack on three nodes, and what it tells to try works. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startKeelson, whenPrinted } from '../testing/keelson.ts';

const root = resolve(import.meta.dirname, '../../../..');
const run = promisify(execFile);

describe('keelson up with the security operator', () => {
  let folder: string;
  let child: ChildProcessWithoutNullStreams;
  let printed: string;
  let kubectl: string;
  let keelson: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keelson-flagship-'));
    child = startKeelson(['up'], { cwd: root, env: { TMPDIR: folder } });
    printed = await whenPrinted(child, 'Ctrl-C ends it all.');
    [kubectl = '', keelson = ''] = ['kubectl', 'keelson'].map(
      (name) => new RegExp(`^${name} +(\\S+)$`, 'm').exec(printed)?.[1] ?? '',
    );
  });
  afterAll(async () => {
    const closed = once(child, 'close');
    child?.kill('SIGINT');
    await closed;
    await rm(folder, { recursive: true, force: true });
  });

  const paste = async (command: string): Promise<string> => (await run('sh', ['-c', command])).stdout;
  const sample = join(root, 'samples/security/full.yaml');

  it('given the full sample, when up, then every feature is Ready, and the view says so feature by feature', () => {
    for (const line of ['FalcoReady=True Ready: Falco running on 3/3 nodes', 'TetragonReady=True', 'KyvernoReady=True'])
      expect(printed).toContain(`\n  ${line}`);
    expect(printed).toMatch(/^securityagent\/ctem-security-agent in security-system: Ready=True /m);
    expect(printed).toMatch(/^ready in \d+\.\d s$/m);
  });

  it('given an agent, when its status is asked for, then features, tools and pipeline are seen at a glance', async () => {
    const text = await paste(`${keelson} status secagent/ctem-security-agent -n security-system`);
    expect(text).toMatch(/^ {2}FalcoReady +True +Ready +\S+ +Falco running on 3\/3 nodes$/m);
    expect(text).toContain('\n  featuresReady: 6/6\n');
    expect(text).toMatch(/^ {4}receivers: filelog\/falco, filelog\/osquery, filelog\/tetragon$/m);
    expect(text).toMatch(/^ {4}falco +3 +3 +\S+ +docker\.io\/falcosecurity\/falco:\S+$/m);
    expect(text).toMatch(/^ {2}DaemonSet \(4\) +falco, osquery, otel-node-collector, tetragon$/m);
  });

  it('given an agent in another namespace, when asked for the status here, then it says where to look', async () => {
    expect(await paste(`${keelson} status 2>&1`)).toMatch(
      /^website\/front [\s\S]*\nNo SecurityAgent in namespace default; `keelson status -A` looks in all namespaces\.\n$/m,
    );
  });

  it('given a change, when planned, then the lines of files that change are told, and which pods restart', async () => {
    const changed = join(folder, 'changed.yaml');
    await writeFile(changed, (await readFile(sample, 'utf8')).replace('driver: modern_ebpf', 'driver: kmod'));
    const text = await paste(`${keelson} plan -f ${changed}`);
    expect(text).toMatch(/~ change ConfigMap falco\n +data\[falco\.yaml\]:\n/);
    expect(text).toMatch(/^ +\+ +kind: kmod$/m);
    expect(text).toMatch(/restarts pods: falco-\w+, falco-\w+, falco-\w+\n/);
    expect(text).toMatch(/Plan: 0 to create, 2 to change, 0 to delete; 3 pods restart\.\n$/);
  });

  it('given what it tells to try, when pasted one after the other, then all of it works', async () => {
    const commands = [...printed.matchAll(/^ {5}(\S.*)$/gm)].map(([, command]) => command ?? '');
    expect(commands).toHaveLength(5);
    for (const command of commands) await paste(command);
    const agents = () => paste(`${kubectl} get secagent -A --no-headers`);
    await vi.waitFor(async () => expect(await agents()).toMatch(/ctem-security-agent +True +5\/5 /), 30_000);
    expect(
      await paste(`${kubectl} get daemonsets,configmaps,serviceaccounts -n security-system -o name`),
    ).not.toContain('/falco\n');
    const log = await readFile(join(dirname(kubectl), 'operators.log'), 'utf8');
    expect(log).not.toContain('"level":"error"');
  });
});
