/**
 * Never deaf: while 500 objects change, every watch stream is cut every 100 ms, some end with 410, the API server is killed and
 * restarted, and etcd is restarted. Two things are counted, and printed:
 *   - final states missed: whoever follows the kind must end with exactly what the server holds, although the faults go on;
 *   - events missed: between one full picture and the next, every single change must have been handed out. A new picture
 *     would heal a lost event, so only this count shows that resuming a stream loses none.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, isFault, type KubeClient, loadConfig, type ReflectorOptions, reflect } from '@keelson/kube';
import { ConfigMap } from '@keelson/schema';
import { type FaultProxy, startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, expect, it } from 'vitest';

const objects = 500;
const rounds = 6;
const cutEveryMs = 100;

let env: TestEnv;
let proxy: FaultProxy;
/** Through the proxy: the one under test. */
let follower: KubeClient;
/** Past the proxy: writes, and knows the truth. */
let writer: KubeClient;

beforeAll(async () => {
  env = await startTestEnv();
  proxy = await env.faultProxy();
  writer = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
  follower = createClient(await loadConfig({ kubeconfig: proxy.kubeconfig, env: {} }));
});

afterAll(async () => {
  await Promise.all([writer?.close(), follower?.close()]);
  await proxy?.close();
  await env?.stop();
});

interface Follower {
  /** Name to resourceVersion, as a cache would hold it. */
  readonly seen: ReadonlyMap<string, string>;
  readonly counts: Record<'replaced' | 'changed' | 'progressed' | 'watching' | 'interrupted', number>;
  /** From each full picture to the last version before the next: in between nothing may be missing. */
  readonly stretches: readonly { readonly from: number; upTo: number }[];
  /** Versions that were handed out as changes. */
  readonly versions: ReadonlySet<number>;
  readonly ended: Promise<void>;
}

function follow(namespace: string, signal: AbortSignal, options: Partial<ReflectorOptions>): Follower {
  const seen = new Map<string, string>();
  const counts = { replaced: 0, changed: 0, progressed: 0, watching: 0, interrupted: 0 };
  const stretches: { from: number; upTo: number }[] = [];
  const versions = new Set<number>();
  const ended = (async () => {
    for await (const change of reflect(follower, ConfigMap, { namespace, signal, ...options })) {
      counts[change.state] += 1;
      if (change.state === 'interrupted') continue;
      const version = Number(change.resourceVersion);
      const stretch = stretches.at(-1);
      if (change.state === 'replaced') stretches.push({ from: version, upTo: version });
      else if (stretch !== undefined) stretch.upTo = version;
      if (change.state === 'replaced') {
        seen.clear();
        for (const { metadata } of change.items) seen.set(metadata.name, metadata.resourceVersion ?? '');
      } else if (change.state === 'changed') {
        versions.add(version);
        if (change.type === 'DELETED') seen.delete(change.object.metadata.name);
        else seen.set(change.object.metadata.name, change.resourceVersion);
      }
    }
  })();
  return { seen, counts, stretches, versions, ended };
}

/** Repeats a write until it is done, however often the control plane dies meanwhile; undefined when there is nothing left to delete. */
async function insist<T>(write: () => Promise<T>): Promise<T | undefined> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (isFault(error, 'NotFound')) return undefined;
      if (!isFault(error) || error.retry === 'never') throw error;
      await sleep(100);
    }
  }
}

/** Changes every object again and again; in the end every tenth is gone. Gives the version of every change that was made. */
async function change(namespace: string): Promise<number[]> {
  const lanes = 10;
  const written: number[] = [];
  const lane = async (offset: number) => {
    for (let round = 0; round < rounds; round += 1) {
      for (let i = offset; i < objects; i += lanes) {
        const name = `c${i}`;
        const object = {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name, namespace },
          data: { round: String(round) },
        };
        const applied = await insist(() => writer.apply(ConfigMap, object, { fieldManager: 'test', force: true }));
        written.push(Number(applied?.metadata.resourceVersion));
        if (round === rounds - 1 && i % 10 === 0) await insist(() => writer.delete(ConfigMap, { name, namespace }));
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, offset) => lane(offset)));
  return written;
}

/** Kills and restarts what the cluster is made of, while the writes go on. */
async function havoc(): Promise<void> {
  await sleep(1_500);
  await env.parts.apiserver.kill();
  await sleep(500);
  await env.parts.apiserver.start();
  await sleep(1_500);
  await env.parts.etcd.kill();
  await sleep(500);
  await env.parts.etcd.start();
}

function differences(seen: ReadonlyMap<string, string>, truth: ReadonlyMap<string, string>): string[] {
  const names = new Set([...seen.keys(), ...truth.keys()]);
  return [...names].filter((name) => seen.get(name) !== truth.get(name));
}

/** Changes that lie within a stretch without a new picture and were not handed out. */
function lostEvents({ stretches, versions }: Follower, written: readonly number[]): number {
  const within = (version: number) => stretches.some(({ from, upTo }) => from < version && version <= upTo);
  return written.filter((version) => within(version) && !versions.has(version)).length;
}

it('given cut streams, 410s, a killed API server and a restarted etcd while 500 objects change, no final state is missed', async () => {
  const namespace = await env.createNamespace();
  const stop = new AbortController();
  proxy.rule({ match: { watch: true }, probability: 0.1, fault: { kind: 'gone', afterEvents: 3 } });
  proxy.rule({ match: { watch: true }, probability: 0.1, fault: { kind: 'cut', afterEvents: 2, halfEvent: true } });
  proxy.rule({
    match: { watch: true },
    probability: 0.3,
    fault: { kind: 'drop', events: ({ type }) => type === 'BOOKMARK' },
  });
  let cuts = 0;
  const cutting = setInterval(() => {
    cuts += 1;
    proxy.cutAll({ watch: true });
  }, cutEveryMs);
  const followers = {
    'streaming list': follow(namespace, stop.signal, { idleTimeoutMs: 5_000 }),
    'paged list': follow(namespace, stop.signal, { idleTimeoutMs: 5_000, streamingList: false, pageSize: 50 }),
    'metadata only': follow(namespace, stop.signal, { idleTimeoutMs: 5_000, metadataOnly: true }),
  };
  try {
    const [written] = await Promise.all([change(namespace), havoc()]);
    expect(written).toHaveLength(objects * rounds);
    const { items } = await writer.listAll(ConfigMap, { namespace });
    const truth = new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion ?? '']));
    expect(truth.size).toBe(objects * 0.9);

    const missed = () => Object.values(followers).reduce((sum, { seen }) => sum + differences(seen, truth).length, 0);
    const until = Date.now() + 120_000;
    while (missed() > 0 && Date.now() < until) await sleep(50);

    for (const [name, each] of Object.entries(followers)) {
      const { counts, seen } = each;
      const figures = `${counts.changed} changes, ${counts.interrupted} interruptions, ${counts.replaced} pictures`;
      const lost = `events missed: ${lostEvents(each, written)}, final states missed: ${differences(seen, truth).length}`;
      console.log(`never deaf: ${name}: ${figures}; ${lost}`);
    }
    console.log(`never deaf: ${objects} objects, ${cuts} rounds of cuts; final states missed in all: ${missed()}`);
    expect(missed()).toBe(0);
    for (const each of Object.values(followers)) expect(lostEvents(each, written)).toBe(0);
    for (const { counts } of Object.values(followers)) expect(counts.interrupted).toBeGreaterThan(5);
  } finally {
    clearInterval(cutting);
    stop.abort();
    await Promise.all(Object.values(followers).map(({ ended }) => ended));
  }
});
