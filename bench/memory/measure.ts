/**
 * Memory held by a watch on 10,000 ConfigMaps of 2 KB: ours full and metadata-only, beside the informers of controller-runtime
 * (Go) and @kubernetes/client-node. Each runs in a process of its own, after the cache has synced and garbage was collected.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient, loadConfig } from '@keelson/kube';
import { ConfigMap, manifest, Namespace } from '@keelson/schema';
import { startTestEnv } from '@keelson/testenv';

const objects = 10_000;
const namespace = 'bench';

interface Measured {
  objects: number;
  rss: number;
  /** Alive on the heap since before the cache was made. */
  held: number;
  syncMs: number;
}

const node = [process.execPath, '--expose-gc'];
// As `keelson run` starts.
const small = '--max-semi-space-size=2';
const ours = [...node, small, join(import.meta.dirname, 'keelson.mjs')];
const clientNode = [...node, join(import.meta.dirname, 'client-node.mjs')];

export async function measureMemory(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'));
  try {
    const controllerRuntime = [buildPeer(folder)];
    await using env = await startTestEnv({ level: 'api' });
    await fill(env.kubeconfig);
    const rows: { name: string; measured: Measured }[] = [];
    for (const [name, program, mode] of [
      ['Keelson, metadata only', ours, 'metadata'],
      ['controller-runtime, metadata only', controllerRuntime, 'metadata'],
      ['Keelson, full objects', ours, 'full'],
      ['controller-runtime, full objects', controllerRuntime, 'full'],
      ['@kubernetes/client-node, full objects', clientNode, 'full'],
    ] as const) {
      rows.push({ name, measured: await measure([...program, env.kubeconfig, mode, namespace]) });
    }
    print(rows);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function buildPeer(folder: string): string {
  console.log('building the controller-runtime peer with Go');
  const binary = join(folder, 'controller-runtime');
  execFileSync('go', ['build', '-trimpath', '-o', binary, '.'], {
    cwd: join(import.meta.dirname, '../peers/controller-runtime'),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return binary;
}

async function fill(kubeconfig: string): Promise<void> {
  console.log(`creating ${objects} ConfigMaps of 2 KB`);
  const client = createClient(await loadConfig({ kubeconfig }));
  await client.create(Namespace, manifest(Namespace, { name: namespace }, {}));
  let next = 0;
  const worker = async () => {
    while (next < objects) {
      const index = next++;
      const name = `config-${String(index).padStart(5, '0')}`;
      const text = `${name} `.repeat(200).slice(0, 2_000);
      await client.create(
        ConfigMap,
        manifest(ConfigMap, { name, namespace, labels: { app: `app-${index % 100}` } }, { data: { text } }),
      );
    }
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  await client.close();
}

async function measure([command, ...args]: readonly string[]): Promise<Measured> {
  if (command === undefined) throw new Error('nothing to measure');
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const measured = JSON.parse(await firstLine(child)) as Measured;
    if (measured.objects !== objects) throw new Error(`${command} holds ${measured.objects} objects, not ${objects}`);
    return measured;
  } finally {
    child.kill('SIGKILL');
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the measured program has no standard output');
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('{')) return line;
  throw new Error('the measured program ended without a result');
}

function print(rows: readonly { name: string; measured: Measured }[]): void {
  const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
  const base = rows.find(({ name }) => name === 'controller-runtime, full objects')?.measured.rss ?? Number.NaN;
  console.log(
    `\n| ${objects} ConfigMaps of 2 KB | RSS, MiB | held per object, KiB | synced in, ms | RSS, ratio to controller-runtime full |`,
  );
  console.log('|---|---:|---:|---:|---:|');
  for (const { name, measured } of rows) {
    const each = (measured.held / measured.objects / 1024).toFixed(2);
    console.log(
      `| ${name} | ${mib(measured.rss)} | ${each} | ${measured.syncMs} | ${(measured.rss / base).toFixed(2)} |`,
    );
  }
}
