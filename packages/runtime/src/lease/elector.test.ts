import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { Lease } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { silentLogger } from '../logging/logger.ts';
import { createElector, type Elector } from './elector.ts';
import type { LeaseTimes } from './lease-record.ts';

const TIMES: LeaseTimes = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryMs: 300 };

let env: TestEnv;
let client: KubeClient;
const running: Replica[] = [];

beforeAll(async () => {
  env = await startTestEnv();
  client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
});
afterEach(async () => {
  for (const { stop } of running) stop.abort();
  await Promise.allSettled(running.splice(0).map(({ done }) => done));
});
afterAll(async () => {
  await client?.close();
  await env?.stop();
});

interface Replica {
  readonly elector: Elector;
  readonly stop: AbortController;
  readonly done: Promise<void>;
  /** When terms began and ended. */
  readonly terms: { readonly from: number; to: number }[];
}

/** A replica that leads until it is stopped; `drainMs` is how long its work takes to end. */
function compete(namespace: string, identity: string, drainMs = 0, clock = systemClock): Replica {
  const elector = createElector({ ...TIMES, client, namespace, name: 'lock', identity, clock, logger: silentLogger });
  const stop = new AbortController();
  const terms: Replica['terms'] = [];
  const done = elector.run(stop.signal, async (term) => {
    const current = { from: performance.now(), to: Number.POSITIVE_INFINITY };
    terms.push(current);
    await new Promise<void>((resolve) => {
      AbortSignal.any([stop.signal, term]).addEventListener('abort', () => resolve(), { once: true });
    });
    if (!term.aborted) await new Promise((resolve) => setTimeout(resolve, drainMs));
    current.to = performance.now();
  });
  const replica = { elector, stop, done, terms };
  running.push(replica);
  return replica;
}

async function until(isSo: () => boolean, withinMs = 10_000): Promise<number> {
  const start = performance.now();
  while (!isSo()) {
    if (performance.now() - start > withinMs) expect.fail(`not so after ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return performance.now() - start;
}

const isAllowed = ({ elector }: Replica): boolean => {
  try {
    elector.fence.check();
    return true;
  } catch {
    return false;
  }
};

describe('electors', () => {
  it('let one lead; when it stops, its work ends first, the lease is given back and another leads at once', async () => {
    const namespace = await env.createNamespace();
    const one = compete(namespace, 'one', 500);
    await until(() => one.elector.isLeader);
    const two = compete(namespace, 'two');
    await until(() => two.elector.holder === 'one');
    await new Promise((resolve) => setTimeout(resolve, TIMES.leaseDurationMs + 500));
    expect(two.terms).toEqual([]);
    expect(isAllowed(two)).toBe(false);

    one.stop.abort();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(isAllowed(one)).toBe(true);
    await one.done;
    const waited = await until(() => two.elector.isLeader);
    expect(waited).toBeLessThan(1_000);
    expect(two.terms[0]?.from).toBeGreaterThan(one.terms[0]?.to ?? Number.NaN);
    const lease = await client.get(Lease, { namespace, name: 'lock' });
    expect(lease.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1, leaseDurationSeconds: 3 });
  });

  it('take over from one that is silent, after its whole lease and not before', async () => {
    const namespace = await env.createNamespace();
    const now = new Date().toISOString().replace('Z', '000Z');
    await client.create(Lease, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'lock', namespace },
      spec: { holderIdentity: 'dead', leaseDurationSeconds: 2, renewTime: now, acquireTime: now, leaseTransitions: 0 },
    });
    const one = compete(namespace, 'one');
    const waited = await until(() => one.elector.isLeader);
    expect(waited).toBeGreaterThan(2_000);
    expect(waited).toBeLessThan(3_500);
  });

  it('do not believe what clocks of others say', async () => {
    const namespace = await env.createNamespace();
    const ahead = { ...systemClock, now: () => Date.now() + 3_600_000 };
    const one = compete(namespace, 'one');
    await until(() => one.elector.isLeader);
    const two = compete(namespace, 'two', 0, ahead);
    await new Promise((resolve) => setTimeout(resolve, TIMES.leaseDurationMs + 500));
    expect(two.terms).toEqual([]);
    expect(isAllowed(one)).toBe(true);
  });

  it('stop when the API server does not answer, before anybody could take over, and compete again', async () => {
    const namespace = await env.createNamespace();
    const one = compete(namespace, 'one');
    await until(() => one.elector.isLeader);
    await env.parts.apiserver.pause();
    const waited = await until(() => !isAllowed(one), TIMES.leaseDurationMs);
    expect(waited).toBeLessThan(TIMES.renewDeadlineMs + 100);
    await until(() => (one.terms[0]?.to ?? 0) < Number.POSITIVE_INFINITY, 500);
    await env.parts.apiserver.resume();
    await until(() => one.elector.isLeader);
    expect(one.terms).toHaveLength(2);
  });

  it('stop at once when somebody else holds the lease', async () => {
    const namespace = await env.createNamespace();
    const one = compete(namespace, 'one');
    await until(() => one.elector.isLeader);
    await client.patch(
      Lease,
      { namespace, name: 'lock' },
      { type: 'merge', value: { spec: { holderIdentity: 'thief', leaseDurationSeconds: 2 } } },
    );
    await until(() => (one.terms[0]?.to ?? 0) < Number.POSITIVE_INFINITY, 1_500);
    expect(isAllowed(one)).toBe(false);
    await until(() => one.elector.isLeader);
    expect(one.terms).toHaveLength(2);
  });

  it('survive that the lease is deleted by hand', async () => {
    const namespace = await env.createNamespace();
    const one = compete(namespace, 'one');
    await until(() => one.elector.isLeader);
    await client.delete(Lease, { namespace, name: 'lock' });
    await new Promise((resolve) => setTimeout(resolve, TIMES.renewDeadlineMs));
    expect(one.terms).toHaveLength(1);
    expect(isAllowed(one)).toBe(true);
  });

  it('say no when the machine was suspended, though the monotonic clock stood still', async () => {
    const namespace = await env.createNamespace();
    let suspendedMs = 0;
    const one = compete(namespace, 'one', 0, { ...systemClock, now: () => Date.now() + suspendedMs });
    await until(() => one.elector.isLeader);
    suspendedMs = TIMES.leaseDurationMs;
    expect(isAllowed(one)).toBe(false);
  });

  it('of many, only one leads at any time', async () => {
    const namespace = await env.createNamespace();
    const replicas = Array.from({ length: 5 }, (_, n) => compete(namespace, `r${n}`));
    for (let round = 0; round < 5; round += 1) {
      const leader = await new Promise<Replica>((resolve) => {
        const timer = setInterval(() => {
          const found = replicas.find((replica) => replica.elector.isLeader && !replica.stop.signal.aborted);
          if (found === undefined) return;
          clearInterval(timer);
          resolve(found);
        }, 5);
      });
      leader.stop.abort();
      await leader.done;
    }
    const terms = replicas.flatMap((replica) => replica.terms).sort((a, b) => a.from - b.from);
    expect(terms).toHaveLength(5);
    for (const [index, term] of terms.slice(1).entries())
      expect(term.from).toBeGreaterThan(terms[index]?.to ?? Number.NaN);
  });
});

it('refuses times that do not fit together', () => {
  const make = (times: Partial<LeaseTimes>) => () =>
    createElector({
      ...times,
      client,
      namespace: 'x',
      name: 'lock',
      identity: 'a',
      clock: systemClock,
      logger: silentLogger,
    });
  expect(make({ renewDeadlineMs: 7_000 })).toThrow('the deadline must be shorter than the duration');
  expect(make({ retryMs: 3_000 })).toThrow('at least twice the retry');
});
