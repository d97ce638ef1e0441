/** Collectors are asked over the network: small servers that tell what real ones do. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EffectContext, EffectOutcome } from '@keelson/runtime';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { reachPod } from './ask.ts';
import { createHealthCheck, healthEffect, type Inquest } from './check.ts';
import type { Collector } from './collectors.ts';
import type { Findings } from './judge.ts';
import type { Link } from './link.ts';
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
  const check = createHealthCheck({
    reach: ({ name }, part) => addresses[part === 'relay' ? `${name}/relay` : name] ?? '',
    patienceMs: 12_000,
  });
  const stop = new AbortController();
  const context = { signal: stop.signal, memory: new Map() } as unknown as EffectContext;
  const run = (...asked: readonly Collector[]) =>
    check({ asked, nodes: asked.length, tools }, context) as Promise<Inquest>;
  /** As the engine does it: again, until all have answered or had their time. */
  const complete = (...asked: readonly Collector[]) =>
    vi.waitFor(
      async () => {
        const { findings, isPending } = await run(...asked);
        expect(isPending).toBe(false);
        return findings;
      },
      { timeout: 60_000, interval: 200 },
    );
  return { run, complete, stop };
}

describe('asking collectors', () => {
  test('finds at a pod what it tells, by both families of addresses', () => {
    expect(reachPod({ ...nodeCollector(), ip: '10.0.0.7' }, 'collector')).toBe('http://10.0.0.7:8888/metrics');
    expect(reachPod({ ...nodeCollector(), ip: 'fd00::7' }, 'collector')).toBe('http://[fd00::7]:8888/metrics');
    expect(reachPod({ ...gateway(), ip: 'fd00::7' }, 'relay')).toBe('http://[fd00::7]:9211/metrics');
  });

  test('compares with the time before, and does not ask again at once', async () => {
    let read = 0;
    const url = await serve((_, response) => {
      read += 1;
      response.end(text(read));
    });
    const { complete } = setUp({ 'node-1': url });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-05-01T10:00:00Z') });
    expect(await complete(nodeCollector())).toMatchObject({
      answered: { node: 1 },
      tools: { falco: { state: 'quiet' } },
    });
    vi.setSystemTime(Date.parse('2026-05-01T10:00:04Z'));
    expect(await complete(nodeCollector())).toMatchObject({ tools: { falco: { state: 'quiet' } } });
    expect(read).toBe(1);
    vi.setSystemTime(Date.parse('2026-05-01T10:00:20Z'));
    expect(await complete(nodeCollector())).toMatchObject({
      tools: { falco: { state: 'flowing', lastEvent: '2026-05-01T10:00:20Z' } },
    });
  });

  test('asks the relay beside a gateway too, and does without one that does not answer', async () => {
    let refused = 0;
    const relay = await serve((_, response) => {
      refused += 3;
      response.end(
        `keelson_relay_dead_letters_total{index="security-events",error_type="mapper_parsing_exception"} ${refused}\n`,
      );
    });
    const good = await serve((_, response) => response.end(text(1)));
    const { complete } = setUp({ good, 'good/relay': relay, alone: good });
    const both = [
      { ...gateway('good'), hasRelay: true as const },
      { ...gateway('alone'), hasRelay: true as const },
    ];
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-05-01T10:00:00Z') });
    expect(await complete(...both)).toMatchObject({ answered: { gateway: 2 }, isRelayed: true, refusals: [] });
    vi.setSystemTime(Date.parse('2026-05-01T10:00:20Z'));
    expect(await complete(...both)).toMatchObject({
      refusals: [{ outcome: 'kept', index: 'security-events', type: 'mapper_parsing_exception' }],
    });
  });

  test('waits for nobody, believes nobody who is no collector, and follows nobody elsewhere', async () => {
    const good = await serve((_, response) => response.end(text(1)));
    const names = ['good', 'hangs', 'fails', 'is-html', 'redirects', 'is-endless', 'is-gone'] as const;
    const gone = await serve(() => undefined);
    await closing.pop()?.();
    const { complete } = setUp({
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
    const found = await complete(gateway('good'), ...names.slice(1).map((name) => nodeCollector(name)));
    expect([found?.asked, found?.answered]).toEqual([
      { node: 6, gateway: 1 },
      { node: 0, gateway: 1 },
    ]);
  });

  test('holds up no turn for who does not answer, and ends with the process', async () => {
    const { run, complete, stop } = setUp({ 'node-1': await serve(() => undefined) });
    expect(await run(nodeCollector())).toEqual({ isPending: true });
    expect(await complete(nodeCollector())).toMatchObject({ asked: { node: 1 }, answered: { node: 0 } });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    const asking = run(nodeCollector());
    stop.abort();
    await expect(asking).rejects.toThrow('aborted');
  });
});

describe('how often they are asked', () => {
  const free: Link = { state: 'free', fill: 'low', queues: [], places: [], isSuspect: false };
  const calm: Findings = {
    asked: { node: 1, gateway: 1 },
    answered: { node: 1, gateway: 1 },
    links: { node: free, gateway: free },
    tools: {},
    isGatewayUp: true,
    refuses: false,
    refusals: [],
    isRelayed: false,
  };
  const done = (result: Inquest): EffectOutcome => ({ state: 'done', at: new Date(), result });
  const nobody = { ...calm, answered: { node: 0, gateway: 0 } };
  const collectors = { asked: [], nodes: 0, ready: { node: true, gateway: true } };

  test.each<[string, string, EffectOutcome | undefined]>([
    ['20s', 'at first', undefined],
    ['20s', 'while all is well', done({ findings: calm, isPending: false })],
    ['2s', 'while some have yet to answer', done({ findings: calm, isPending: true })],
    [
      '10s',
      'when somebody seems held up',
      done({ findings: { ...calm, links: { node: { ...free, isSuspect: true }, gateway: free } }, isPending: false }),
    ],
    [
      '10s',
      'while a link is broken',
      done({ findings: { ...calm, links: { node: free, gateway: { ...free, state: 'stuck' } } }, isPending: false }),
    ],
    ['1m', 'where nobody answers', done({ findings: nobody, isPending: false })],
    ['20s', 'after something went wrong', { state: 'failed', at: new Date(), message: 'late', attempts: 1 }],
  ])('%s %s', (every, _, outcome) => {
    expect(healthEffect(collectors, [], outcome)).toMatchObject({ every });
  });
});
