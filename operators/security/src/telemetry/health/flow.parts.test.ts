/** Both real collectors and a real Elasticsearch: links break, are named, and mend. */
import type { EffectContext, EffectOutcome } from '@keelson/runtime';
import { findFreePort } from '@keelson/testenv';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Agent } from '../../resource.ts';
import { type Pipeline, startPipeline } from '../testing/pipeline.ts';
import { census, guard, outputOf } from '../testing/sources.ts';
import { createHealthCheck } from './check.ts';
import { healthStanding } from './standing.ts';
import { gateway, nodeCollector } from './testing/figures.ts';

const sources = [guard, census];
const collectors = { asked: [gateway(), nodeCollector()], nodes: 1, ready: { node: true, gateway: true } };

let pipeline: Pipeline;
let look: () => Promise<Record<string, string>>;
let tools: () => unknown;
beforeAll(async () => {
  const ports = { node: await findFreePort(), gateway: await findFreePort() };
  // Their own port is the same for both; all else of what they tell is as it is configured.
  const metricsAt = (port: number) => ({
    service: {
      telemetry: {
        metrics: { level: 'detailed', readers: [{ pull: { exporter: { prometheus: { host: '127.0.0.1', port } } } }] },
      },
    },
  });
  pipeline = await startPipeline({
    sources,
    overrides: {
      // A test need not wait for the longest pause between two attempts.
      node: { ...metricsAt(ports.node), exporters: { otlp: { retry_on_failure: { max_interval: '5s' } } } },
      gateway: {
        ...metricsAt(ports.gateway),
        exporters: { 'elasticsearch/events': { retry: { max_interval: '5s' } } },
      },
    },
  });
  const check = createHealthCheck({
    reach: ({ role }) => `http://127.0.0.1:${ports[role]}/metrics`,
    patienceMs: 10_000,
  });
  const context = { signal: new AbortController().signal, memory: new Map() } as unknown as EffectContext;
  const input = { ...collectors, tools: sources.map(({ tool, index }) => ({ tool, index })) };
  let standing: ReturnType<typeof healthStanding> | undefined;
  tools = () => standing?.tools;
  look = async () => {
    const outcome: EffectOutcome = { state: 'done', at: new Date(), result: await check(input, context) };
    const status = { conditions: standing?.conditions, pipeline: { tools: standing?.tools } };
    const self = { spec: { features: [], output: outputOf({ url: pipeline.store.url }) }, status } as unknown as Agent;
    standing = healthStanding({ self, sources, collectors, outcome, now: new Date() });
    return Object.fromEntries(
      standing.conditions.map(({ type, status: said, reason, message }) => [type, `${said} ${reason}: ${message}`]),
    );
  };
});
afterAll(() => pipeline?.stop());

/** Looks every now and then, as the operator would; a round is six seconds apart from the next. */
const until = (type: string, text: RegExp) =>
  vi.waitFor(async () => expect((await look())[type]).toMatch(text), { timeout: 110_000, interval: 1_000 });

let number = 0;
const write = (count: number) =>
  pipeline.write(
    guard,
    ...Array.from({ length: count }, () => {
      number += 1;
      return JSON.stringify({ rule: `event ${number}`, time: new Date().toISOString() });
    }),
  );

test('at first nothing is to read, which is no error; then events of one tool arrive', async () => {
  await until('EventsFlowing', /^Unknown NothingToRead: guard has told nothing yet; census has told nothing yet/);
  await until('PipelineReady', /^True Ready: nodes → otel-gateway → http:.*: nothing is held up$/);
  await write(3);
  await until('EventsFlowing', /^True Flowing: events of guard arrive; census has told nothing yet$/);
  expect(tools()).toEqual({ guard: { lastEventTime: expect.any(String) }, census: {} });
});

test('a gateway that is gone: the link from the nodes to it is named', async () => {
  await pipeline.gateway.part.kill();
  await write(30);
  await until(
    'PipelineReady',
    /^False GatewayNotReached: the collectors on nodes cannot hand events over to otel-gateway: no gateway answers; about [\d,]+ events wait$/,
  );
  await until('EventsFlowing', /^False NothingArrives: nothing of guard arrives: the collectors on nodes/);
  expect(tools()).toMatchObject({ guard: { waiting: expect.any(Number) } });
});

test('it is back: all is well again', async () => {
  await pipeline.gateway.part.start();
  await until('PipelineReady', /^True Ready/);
  await until('EventsFlowing', /^True Flowing/);
});

test('a store that is gone: the link from the gateways to it is named, and what waits there', async () => {
  await pipeline.store.part.kill();
  await write(60);
  await until(
    'PipelineReady',
    /^False StoreNotReached: gateways cannot write security-events to http:\/\/127\.0\.0\.1:\d+: no answer: check its address.*; about [\d,]+ events wait$/,
  );
  await until('EventsFlowing', /^False NothingArrives: nothing of guard arrives: gateways cannot write/);
});

test('it is back, too', async () => {
  await pipeline.store.part.start();
  await until('PipelineReady', /^True Ready/);
  await until('EventsFlowing', /^True Flowing/);
  expect(tools()).toEqual({ guard: { lastEventTime: expect.any(String) }, census: {} });
});
