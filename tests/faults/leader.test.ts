/**
 * Two replicas under steady change: the leader is killed with SIGKILL, then the other is stopped gracefully. Each time the next
 * one writes within its bound; the audit log shows that nobody ever wrote without holding the lease, so never two at one time;
 * and who takes over has everything in its caches already: it lists nothing. A leader that is suspended (SIGSTOP) in the middle of
 * its writes and wakes up after another took over finishes none of them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Website } from '@keelson/example-website';
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { ConfigMap, type Instance, Lease, manifest, toCrd } from '@keelson/schema';
import { type AuditEntry, type AuditMark, findFreePort, startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Replica, startReplica } from './process.ts';
import { until } from './until.ts';

const KILLED_WITHIN_MS = 10_000;
const STOPPED_WITHIN_MS = 2_000;
const RENEW_DEADLINE_MS = 4_000;
const SITES = 10;

type Spec = Instance<typeof Website>['spec'];

describe('two replicas', () => {
  let env: TestEnv;
  let client: KubeClient;
  const replicas: Replica[] = [];

  beforeAll(async () => {
    env = await startTestEnv({ crds: [toCrd(Website)], auditLevel: 'Request' });
    client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
  });
  afterAll(async () => {
    for (const replica of replicas) await replica.kill();
    await client?.close();
    await env?.stop();
  });

  async function start(
    identity: string,
    namespace: string,
    through: Pick<TestEnv, 'kubeconfigFor'> = env,
  ): Promise<{ replica: Replica; port: number }> {
    const kubeconfig = await through.kubeconfigFor({ user: identity, groups: ['system:masters'] });
    const port = await findFreePort();
    const replica = startReplica(kubeconfig, {
      identity,
      leaderElection: { namespace, name: 'website' },
      namespaces: [namespace],
      health: { port },
    });
    replicas.push(replica);
    await replica.running;
    return { replica, port };
  }

  it('the other writes within 10 s after a kill and within 2 s after a stop, and never two at one time', async () => {
    const namespace = await env.createNamespace();
    const holder = async (): Promise<string | undefined> =>
      (await client.find(Lease, { namespace, name: 'website' }))?.spec.holderIdentity;
    const firstWrite = async (identity: string, since: string, withinMs: number): Promise<number> => {
      const end = performance.now() + withinMs;
      for (;;) {
        const [write] = (await childWrites(env, identity)).filter(({ time }) => time > since);
        if (write !== undefined) return Date.parse(write.time) - Date.parse(since);
        if (performance.now() > end) expect.fail(`${identity} wrote nothing within ${withinMs} ms`);
        await sleep(50);
      }
    };

    for (let n = 0; n < SITES; n += 1) {
      const spec = { html: 'first', replicas: 1 } as Spec;
      await client.create(Website, manifest(Website, { name: `site-${n}`, namespace }, { spec }));
    }
    const a = await start('replica-a', namespace);
    await until(async () => (await holder()) === 'replica-a');
    const b = await start('replica-b', namespace);
    await using changing = keepChanging(client, namespace);
    await sleep(3_000);

    // The standby is ready, and holds all that the leader holds.
    expect((await fetch(`http://127.0.0.1:${b.port}/readyz`)).status).toBe(200);
    const [held, warm] = [await cacheObjects(a.port), await cacheObjects(b.port)];
    expect(warm).toEqual(held);
    expect(warm).toContain(
      `keelson_cache_objects{resource="websites.example.keelson.io",scope="",hold="full"} ${SITES}`,
    );
    expect(await leaderStatus(b.port)).toBe('0');
    expect(await childWrites(env, 'replica-b')).toEqual([]);
    const beforeTakeover = await env.audit.mark();

    const killedAt = new Date().toISOString();
    await a.replica.kill();
    const afterKill = await firstWrite('replica-b', killedAt, KILLED_WITHIN_MS);
    expect(await holder()).toBe('replica-b');
    expect(await leaderStatus(b.port)).toBe('1');
    await sleep(2_000);
    const lists = await env.audit.entries({ since: beforeTakeover, user: 'replica-b', verb: 'list' });
    expect(lists.map(({ requestURI }) => requestURI)).toEqual([]);

    await start('replica-c', namespace);
    await sleep(2_000);
    const stoppedAt = new Date().toISOString();
    const stopping = b.replica.stop();
    const afterStop = await firstWrite('replica-c', stoppedAt, KILLED_WITHIN_MS);
    expect(await stopping).toBe(0);
    await sleep(2_000);
    await changing.end();

    console.log(`the other wrote ${afterKill} ms after kill -9, ${afterStop} ms after a graceful stop`);
    expect(afterKill).toBeLessThan(KILLED_WITHIN_MS);
    expect(afterStop).toBeLessThan(STOPPED_WITHIN_MS);
    expect(await expectOneWriter(env, namespace)).toEqual(['replica-a', 'replica-b', 'replica-c']);
  });

  it('an API server that stops answering makes the leader stop in time, and the process goes on when it is back', async () => {
    const namespace = await env.createNamespace();
    const since = await env.audit.mark();
    await client.create(Website, manifest(Website, { name: 'site-0', namespace }, { spec: { html: 'first' } as Spec }));
    const d = await start('replica-d', namespace);
    const e = await start('replica-e', namespace);
    const write = async (version: string): Promise<void> => {
      await client.patch(Website, { name: 'site-0', namespace }, { type: 'merge', value: { spec: { html: version } } });
    };
    const wrote = async (version: string): Promise<void> =>
      until(
        async () => (await client.find(ConfigMap, { name: 'site-0', namespace }))?.data?.['index.html'] === version,
      );
    await wrote('first');

    // Something is on its way when the server stops.
    const writing = write('second');
    await env.parts.apiserver.pause();
    const leaders = async (): Promise<number> =>
      [await leaderStatus(d.port), await leaderStatus(e.port)].filter((status) => status === '1').length;
    await until(async () => (await leaders()) === 0, RENEW_DEADLINE_MS + 1_000);
    expect((await fetch(`http://127.0.0.1:${d.port}/healthz`)).status).toBe(200);
    await sleep(4_000);
    await env.parts.apiserver.resume();
    await writing;
    await write('third');
    await wrote('third');
    expect(await leaders()).toBe(1);
    await sleep(1_000);
    await expectOneWriter(env, namespace, since);
  });

  it('a leader that is suspended with writes under way writes nothing when it wakes up after another took over', async () => {
    const namespace = await env.createNamespace();
    const sites = ['one', 'two', 'three'];
    const content = async (name: string): Promise<string | undefined> =>
      (await client.find(ConfigMap, { name, namespace }))?.data?.['index.html'];
    for (const name of sites) {
      await client.create(Website, manifest(Website, { name, namespace }, { spec: { html: 'first' } as Spec }));
    }
    await using proxy = await env.faultProxy();
    const f = await start('replica-f', namespace, proxy);
    for (const name of sites) await until(async () => (await content(name)) === 'first');
    const g = await start('replica-g', namespace);
    await sleep(1_000);
    const since = await env.audit.mark();

    // Turned away, it will repeat its writes in a second: before its lease runs out, so the timers of the writes are the first to
    // fire when it wakes up.
    const turnedAway = proxy.rule({
      match: { write: true, path: /^(?!.*\/leases\b)/ },
      fault: { kind: 'answer', code: 429, retryAfterSeconds: 1 },
    });
    for (const name of sites) {
      await client.patch(Website, { name, namespace }, { type: 'merge', value: { spec: { html: 'second' } } });
    }
    await turnedAway.hit(sites.length);
    await sleep(100);
    process.kill(f.replica.pid, 'SIGSTOP');
    turnedAway.remove();
    for (const name of sites) await until(async () => (await content(name)) === 'second');
    await sleep(500);
    process.kill(f.replica.pid, 'SIGCONT');
    await until(async () => (await leaderStatus(f.port)) === '0');
    await sleep(3_000);

    expect(await leaderStatus(g.port)).toBe('1');
    const writes = (await env.audit.writesBy(/^replica-/, { namespace, since })).filter(
      ({ resource }) => resource !== 'leases',
    );
    const own = writes
      .filter(({ user }) => user === 'replica-f')
      .map(({ requestURI, time }) => `${time} ${requestURI}`);
    expect(own).toEqual([]);
    expect(writes.length).toBeGreaterThanOrEqual(sites.length);
    await expectOneWriter(env, namespace, since);
  });
});

/** Writes to anything but leases and events. */
async function childWrites(env: TestEnv, user: string | RegExp): Promise<AuditEntry[]> {
  return (await env.audit.writesBy(user)).filter(({ resource }) => resource !== 'leases' && resource !== 'events');
}

/** Every write was made by who held the lease when it came in, and is over before the next holder's first. Answers whose turns they were. */
async function expectOneWriter(env: TestEnv, namespace: string, since?: AuditMark): Promise<string[]> {
  const filter = since === undefined ? { namespace } : { namespace, since };
  const all = await env.audit.writesBy(/^replica-/, filter);
  const leases = all.filter(({ resource }) => resource === 'leases').sort(byTime);
  const writes = all.filter(({ resource }) => resource !== 'leases' && resource !== 'events').sort(byTime);
  const holderAt = (time: string): string | undefined => {
    const last = leases.findLast((entry) => entry.doneTime <= time);
    return (last?.requestObject as Lease | undefined)?.spec.holderIdentity;
  };
  const unlawful = writes.filter((entry) => holderAt(entry.time) !== entry.user);
  expect(unlawful.map((entry) => `${entry.user} at ${entry.time}: ${entry.requestURI}`)).toEqual([]);
  for (const [index, entry] of writes.entries()) {
    const next = writes[index + 1];
    if (next !== undefined && next.user !== entry.user) expect(entry.doneTime <= next.time).toBe(true);
  }
  const turns = writes.filter((entry, index) => entry.user !== writes[index - 1]?.user).map(({ user }) => user);
  console.log(`${writes.length} writes in ${turns.length} terms, each by the holder of the lease`);
  return turns;
}

const byTime = (a: AuditEntry, b: AuditEntry): number => (a.time < b.time ? -1 : 1);

/** Changes one Website after the other, so that there is always something to write. */
function keepChanging(client: KubeClient, namespace: string): AsyncDisposable & { end(): Promise<void> } {
  const stop = new AbortController();
  const done = (async () => {
    for (let n = 0; !stop.signal.aborted; n += 1) {
      const value = { spec: { html: `version ${n}` } };
      await client.patch(Website, { name: `site-${n % SITES}`, namespace }, { type: 'merge', value });
      await sleep(50);
    }
  })();
  const end = async (): Promise<void> => {
    stop.abort();
    await done;
  };
  return { end, [Symbol.asyncDispose]: end };
}

async function scrape(port: number): Promise<string[]> {
  return (await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).split('\n');
}

async function cacheObjects(port: number): Promise<string[]> {
  return (await scrape(port)).filter((line) => line.startsWith('keelson_cache_objects{')).sort();
}

async function leaderStatus(port: number): Promise<string | undefined> {
  return (await scrape(port)).find((line) => line.startsWith('leader_election_master_status{'))?.split(' ')[1];
}
