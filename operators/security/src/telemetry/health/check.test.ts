/** Collectors are asked over the network: small servers that tell what real ones do. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EffectContext } from '@keelson/runtime';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { reachPod } from './ask.ts';
import { createHealthCheck } from './check.ts';
import type { Collector } from './collectors.ts';
import type { Findings } from './judge.ts';
import { gateway, nodeCollector, queueOf, readingOf, textOf } from './testing/figures.ts';

const tools = [{ tool: 'falco', index: 'events' }];
const text = (read: number) =>
  textOf(readingOf({ received: { 'filelog/falco': read }, queues: { otlp: queueOf(read) } }));

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
}

function setUp(addresses: Readonly<Record<string, string>>) {
  const check = createHealthCheck({ reach: ({ name }) => addresses[name] ?? '', patienceMs: 4_000 });
  const stop = new AbortController();
  const context = { signal: stop.signal, memory: new Map() } as unknown as EffectContext;
  const run = (...asked: readonly Collector[]) =>
    check({ asked, nodes: asked.length, tools }, context) as Promise<Findings>;
  return { run, stop };
}

describe('asking collectors', () => {
  test('finds at a pod what it tells, by both families of addresses', () => {
    expect(reachPod({ ...nodeCollector(), ip: '10.0.0.7' })).toBe('http://10.0.0.7:8888/metrics');
    expect(reachPod({ ...nodeCollector(), ip: 'fd00::7' })).toBe('http://[fd00::7]:8888/metrics');
  });

  test('compares with the time before, and does not ask again at once', async () => {
    let read = 0;
    const url = await serve((_, response) => {
      read += 1;
      response.end(text(read));
    });
    const { run } = setUp({ 'node-1': url });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-05-01T10:00:00Z') });
    expect(await run(nodeCollector())).toMatchObject({
      isFirst: true,
      answered: { node: 1 },
      tools: { falco: { state: 'quiet' } },
    });
    vi.setSystemTime(Date.parse('2026-05-01T10:00:04Z'));
    expect(await run(nodeCollector())).toMatchObject({ isFirst: true });
    expect(read).toBe(1);
    vi.setSystemTime(Date.parse('2026-05-01T10:00:20Z'));
    expect(await run(nodeCollector())).toMatchObject({
      isFirst: false,
      tools: { falco: { state: 'flowing', lastEvent: '2026-05-01T10:00:20Z' } },
    });
  });

  test('waits for nobody, believes nobody who is no collector, and follows nobody elsewhere', async () => {
    const good = await serve((_, response) => response.end(text(1)));
    const names = ['good', 'hangs', 'fails', 'is-html', 'redirects', 'is-endless', 'is-gone'] as const;
    const gone = await serve(() => undefined);
    await closing.pop()?.();
    const { run } = setUp({
      good,
      hangs: await serve(() => undefined),
      fails: await serve((_, response) => response.writeHead(500).end(text(1))),
      'is-html': await serve((_, response) => response.end('<html>')),
      redirects: await serve((_, response) => response.writeHead(302, { location: good }).end()),
      'is-endless': await serve((_, response) => {
        const more = () => {
          while (response.writable && response.write('a 1\n'.repeat(10_000)));
          response.once('drain', more);
        };
        more();
      }),
      'is-gone': gone,
    });
    const { asked, answered } = await run(gateway('good'), ...names.slice(1).map((name) => nodeCollector(name)));
    expect([asked, answered]).toEqual([
      { node: 6, gateway: 1 },
      { node: 0, gateway: 1 },
    ]);
  });

  test('ends when the process does', async () => {
    const { run, stop } = setUp({ 'node-1': await serve(() => undefined) });
    const asking = run(nodeCollector());
    stop.abort(new Error('stopped'));
    await expect(asking).rejects.toThrow('stopped');
  });
});
