import { ConfigMap } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import type { StoreReport } from '../cache/cache.ts';
import type { FeedReport } from '../cache/feed.ts';
import { createSimulatedClock } from '../testing/simulated-clock.ts';
import { isRefused, judgeStore, toHealth } from './checks.ts';
import { startHeartbeat } from './heartbeat.ts';
import { toHealthRoute } from './server.ts';

const report = (feed: Partial<FeedReport>): StoreReport => ({
  kind: ConfigMap,
  scope: { labelSelector: 'a=b' },
  hold: 'full',
  objects: 3,
  synced: true,
  feeds: [{ state: 'following', stale: false, restarts: 0, ...feed }],
});
const problem = { code: 'Unreachable', message: 'no route to host', remedy: 'check the network' };

describe('readiness', () => {
  it.each([
    ['well', report({ lastContactMs: 4_000 }), 'ok', '3 objects, last contact 4 s ago'],
    ['not listed yet', report({ state: 'starting' }), 'failed', 'the first list is not there yet'],
    ['cannot be listed', report({ state: 'interrupted', problem }), 'failed', 'no route to host'],
    ['not installed', report({ state: 'not-served', problem }), 'waiting', 'not installed'],
    ['silent', report({ stale: true, lastContactMs: 200_000 }), 'failed', 'out of date: no sign of life for 200 s'],
    [
      'cut off',
      report({ stale: true, lastContactMs: 30_000, state: 'interrupted', problem }),
      'failed',
      'out of date: no sign of life for 30 s: no route to host',
    ],
    [
      'cut off for a moment',
      report({ lastContactMs: 1_000, state: 'interrupted', problem }),
      'ok',
      '3 objects, last contact 1 s ago',
    ],
  ])('of a store that is %s', (_, store, state, message) => {
    const findings = judgeStore(store);
    expect(findings).toMatchObject([{ subject: 'cache configmaps (a=b)', state, message }]);
    expect(toHealth(findings).ok).toBe(state !== 'failed');
  });

  it('names what is wrong in words, and everything with its remedy when asked', async () => {
    const route = toHealthRoute(() => toHealth(judgeStore(report({ state: 'interrupted', problem }))));
    expect(await route(false)).toMatchObject({ status: 503, body: 'cache configmaps (a=b): no route to host\n' });
    const { status, body } = await route(true);
    expect(status).toBe(503);
    expect(JSON.parse(body)).toEqual({
      ok: false,
      findings: [
        {
          subject: 'cache configmaps (a=b)',
          state: 'failed',
          message: 'no route to host',
          remedy: 'check the network',
        },
      ],
    });
  });
});

describe('a store that the server refuses', () => {
  const denied = { code: 'Forbidden', message: 'may not watch', remedy: 'grant it' };
  it.each([
    ['from the start', report({ state: 'interrupted', problem: denied }), true, 'may not watch'],
    [
      'after a while',
      report({ state: 'interrupted', stale: true, lastContactMs: 30_000, problem: denied }),
      true,
      'out of date: may not watch',
    ],
    [
      'just now',
      report({ state: 'interrupted', lastContactMs: 1_000, problem: denied }),
      false,
      '3 objects, last contact 1 s ago',
    ],
  ])('%s', (_, store, refused, message) => {
    expect(isRefused(store)).toBe(refused);
    expect(judgeStore(store, 'waiting')).toMatchObject([{ state: refused ? 'waiting' : 'ok', message }]);
    expect(judgeStore(store)).toMatchObject([{ state: refused ? 'failed' : 'ok', message }]);
  });
});

describe('liveness', () => {
  it('fails when timers no longer run', async () => {
    const clock = createSimulatedClock();
    let stuckMs = 0;
    const heartbeat = startHeartbeat({ ...clock, monotonic: () => clock.monotonic() + stuckMs });
    await clock.advance(60_000);
    expect(heartbeat.check().state).toBe('ok');
    stuckMs = 16_000;
    expect(heartbeat.check()).toMatchObject({
      state: 'failed',
      message: 'stood still for 16 s',
      remedy: 'restart the process',
    });
    await clock.advance(1_000);
    expect(heartbeat.check().state).toBe('ok');
    heartbeat.stop();
  });
});
