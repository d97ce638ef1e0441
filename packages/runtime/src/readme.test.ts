/**
 * The code in the README is that of testing/readme/, letter for letter. There it is compiled by `make check`; here it is
 * run: the rules by themselves, the process against a cluster that is not there. No API server is needed.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ConfigMap, type KubeObject } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import type { EffectOutcome } from './effect.ts';
import { definitions } from './metrics/definitions.ts';
import { renderInstance, type Surroundings } from './render.ts';
import { database } from './testing/readme/database.ts';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const readme = read('../README.md');
const examples = {
  operator: new URL('./testing/readme/operator.ts', import.meta.url),
  main: new URL('./testing/readme/main.ts', import.meta.url),
  database: new URL('./testing/readme/database.ts', import.meta.url),
  pure: new URL('./testing/readme/pure.ts', import.meta.url),
};
const args = ['--conditions=keelson-source', '--disable-warning=ExperimentalWarning'];

describe('the README', () => {
  it.each(Object.entries(examples))('shows the example "%s" as it is compiled', (_, file) => {
    const code = readFileSync(file, 'utf8').replaceAll('../../index.ts', '@keelson/runtime');
    expect(readme).toContain(`\`\`\`ts\n${code}\`\`\``);
  });

  it('shows no code that is not compiled', () => {
    expect(readme.match(/```ts\n/g)).toHaveLength(Object.keys(examples).length);
  });

  it('and the guide to operations name only metrics that exist', () => {
    const known = Object.values(definitions).map(({ name }): string => name);
    const text = `${readme}${read('../../../docs/guides/operations.md')}`;
    const named = text.match(/\b(keelson|controller_runtime|workqueue|rest_client|leader_election)_[a-z_]+/g) ?? [];
    expect(named.length).toBeGreaterThan(10);
    expect(
      named.map((name) => name.replace(/_(bucket|sum|count)$/, '')).filter((name) => !known.includes(name)),
    ).toEqual([]);
  });
});

describe('the examples of the README', () => {
  it('render prints what the README says', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [...args, fileURLToPath(examples.pure)]);
    const said = [...readme.matchAll(/\/\/ prints: (.*)$/gm)].map(([, line]) => line);
    expect(stdout.trim().split('\n')).toEqual(said);
  });

  it('the process starts, says that there is no cluster, and ends when it is told to', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-readme-'));
    const kubeconfig = join(folder, 'config');
    const entry = (what: string, value: object) => [{ name: 'none', [what]: value }];
    await writeFile(
      kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'none',
        contexts: entry('context', { cluster: 'none', user: 'none' }),
        clusters: entry('cluster', { server: 'http://127.0.0.1:9' }),
        users: entry('user', {}),
      }),
    );
    const child = spawn(process.execPath, [...args, fileURLToPath(examples.main)], {
      env: { ...process.env, KUBECONFIG: kubeconfig, HEALTH_PORT: '0' },
    });
    try {
      const ended = once(child, 'exit');
      await new Promise<void>((resolve) => {
        child.stderr.on('data', (text) => String(text).includes('cannot reach') && resolve());
      });
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true });
    }
  });

  const instance = (address?: string): KubeObject => ({
    apiVersion: 'example.com/v1alpha1',
    kind: 'Database',
    metadata: { name: 'orders' },
    spec: { provider: 'http://127.0.0.1:9', region: 'north', settings: 'small' },
    ...(address === undefined ? {} : { status: { address } }),
  });
  const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'small', namespace: 'default' }, data: {} };
  const around: Surroundings<readonly string[] | undefined> = {
    external: ['north'],
    related: [{ kind: ConfigMap, object: settings as KubeObject }],
  };
  const done: EffectOutcome = { state: 'done', at: new Date(0), result: 'db.example.com' };

  it.each<[string, KubeObject, Surroundings<readonly string[] | undefined>, object]>([
    ['waits while the provider is away', instance(), {}, { kind: 'wait', reason: 'NoAnswer' }],
    ['rejects a region that the provider does not have', instance(), { external: [] }, { reason: 'NoSuchRegion' }],
    ['waits for its settings', instance(), { external: ['north'] }, { kind: 'wait', reason: 'NoSettings' }],
    ['orders first', instance(), around, { objects: [], status: { phase: 'Pending' } }],
    [
      'hands out the address once it is there',
      instance(),
      { ...around, effects: new Map([['database', done]]) },
      { objects: [{ kind: 'Secret', stringData: { address: 'db.example.com' } }], status: { phase: 'Active' } },
    ],
    [
      'keeps the Secret after a restart, when the outcome is forgotten',
      instance('db.example.com'),
      around,
      { objects: [{ kind: 'Secret' }], status: { phase: 'Active' } },
    ],
  ])('the database %s', (_, object, surroundings, decision) => {
    expect(renderInstance(database, object, surroundings)).toMatchObject({ problems: [], decision });
  });
});
