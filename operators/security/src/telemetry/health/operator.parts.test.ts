/**
 * The operator on simulated nodes, under its own permissions, with collectors that tell what we want them to: nothing is written while
 * events flow, a broken link is named, and mends.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Event, manifest, Namespace } from '@keelson/schema';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { features } from '../../features/index.ts';
import { createSecurityOperator } from '../../operator.ts';
import { agentOf } from '../../testing/agent.ts';
import { OPERATOR_USER, type Stage, startStage } from '../../testing/stage.ts';
import type { Reading } from './reading.ts';
import { queueOf, readingOf, textOf } from './testing/figures.ts';

const ref = { name: 'main', namespace: 'security-system' };
/** Rounds are 10 to 20 s apart. */
const PATIENCE = 110_000;

/** Every collector tells the same, by its role; counts grow by 100 events a second. */
const world = { isStoreDown: false, downSince: 0, isRefusing: false, rounds: 0, asked: new Set<string>() };
const began = Date.now();
const server = createServer(({ url = '' }, response) => {
  const [, role = '', name = '', part = ''] = url.split('/');
  if (part === 'relay') return response.end(relayText());
  world.asked.add(`${role} ${name}`);
  if (role === 'gateway') world.rounds += 1;
  return response.end(textOf(role === 'node' ? nodeReading() : gatewayReading()));
});
const relayText = () =>
  `keelson_relay_dead_letters_total{index="security-events",error_type="mapper_parsing_exception"} ${world.isRefusing ? count() : 0}\n`;
const count = (until = Date.now()) => Math.floor((until - began) / 10);
const nodeReading = (): Reading =>
  readingOf({ received: { 'filelog/falco': count() }, queues: { otlp: queueOf(count()) }, answers: { OK: count() } });
const gatewayReading = (): Reading => {
  const sent = world.isStoreDown ? count(world.downSince) : count();
  const answers = world.isStoreDown ? { '503': count() } : { '200': sent };
  return readingOf({ queues: { 'elasticsearch/events': queueOf(sent, count() - sent) }, answers });
};

let stage: Stage;
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const operator = createSecurityOperator(features, {
    reachCollector: ({ role, name }, part) => `${origin}/${role}/${name}/${part}`,
  });
  stage = await startStage({ level: 'cluster', nodes: 2 }, { operator });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await stage?.[Symbol.asyncDispose]();
});

const current = async () => (await stage.agent(ref.name, ref.namespace)).status;

test('every collector is asked, and the status says that events arrive', async () => {
  await stage.apply(manifest(Namespace, { name: ref.namespace }, {}));
  await stage.setAgent(agentOf(['falco'], { output: { elasticsearch: { url: 'http://127.0.0.1:1' } } }));
  await stage.untilCondition(ref, 'EventsFlowing', { status: 'True', reason: 'Flowing' }, PATIENCE);
  const { message } = await stage.untilCondition(ref, 'PipelineReady', { status: 'True' });
  expect(message).toBe('nodes → otel-gateway → http://127.0.0.1:1: nothing is held up');
  expect((await current())?.pipeline?.tools).toEqual({
    falco: { lastEventTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) },
  });
  // Two nodes and two gateways.
  expect([...world.asked].filter((who) => who.startsWith('node '))).toHaveLength(2);
  expect([...world.asked].filter((who) => who.startsWith('gateway '))).toHaveLength(2);
});

test('while events flow and all counts grow, nothing is written', async () => {
  await stage.untilCondition(ref, 'Ready', { status: 'True' }, PATIENCE);
  // What the operator says of the store, and of pods that have just started, has settled by then.
  const settled = world.rounds + 1;
  await vi.waitFor(() => expect(world.rounds).toBeGreaterThan(settled), { timeout: PATIENCE, interval: 500 });
  const [since, before] = [await stage.env.audit.mark(), world.rounds];
  // Each round asks two gateways.
  await vi.waitFor(() => expect(world.rounds).toBeGreaterThanOrEqual(before + 4), { timeout: PATIENCE, interval: 500 });
  expect(await stage.env.audit.writesBy(OPERATOR_USER, { since })).toEqual([]);
});

test('a store that takes nothing is named, with what waits', async () => {
  const start = Date.now();
  Object.assign(world, { isStoreDown: true, downSince: start });
  const { message } = await stage.untilCondition(ref, 'PipelineReady', { status: 'False' }, PATIENCE);
  console.log(`a broken link is named after ${((Date.now() - start) / 1000).toFixed(1)} s`);
  expect(message).toMatch(
    /^gateways cannot write security-events to http:\/\/127\.0\.0\.1:1: it answers 503; about [\d,]+ events wait$/,
  );
  const flowing = await stage.untilCondition(ref, 'EventsFlowing', { status: 'False', reason: 'NothingArrives' });
  expect(flowing.message).toMatch(/^nothing of falco arrives: gateways cannot write/);
  expect((await current())?.pipeline?.tools?.falco?.waiting).toBeGreaterThan(0);
  const notes = async () => (await stage.admin.list(Event, {})).items.map(({ reason, note }) => `${reason}: ${note}`);
  await vi.waitFor(
    async () =>
      expect((await notes()).filter((note) => note.startsWith('EventsHeldUp: events wait: gateways'))).toHaveLength(1),
    { timeout: 60_000, interval: 200 },
  );
});

test('and after a minute of it the agent is not Ready', async () => {
  await stage.untilCondition(ref, 'OtelPipelineReady', { status: 'False', reason: 'StoreNotReached' }, PATIENCE);
  await stage.untilCondition(ref, 'Ready', { status: 'False' });
});

test('mended, all is True again', async () => {
  world.isStoreDown = false;
  await stage.untilCondition(ref, 'PipelineReady', { status: 'True', reason: 'Ready' }, PATIENCE);
  await stage.untilCondition(ref, 'EventsFlowing', { status: 'True' });
  await stage.untilCondition(ref, 'Ready', { status: 'True' });
  expect((await current())?.pipeline?.tools?.falco).not.toHaveProperty('waiting');
});

test('what the store refuses and a relay keeps is told, and the agent is Ready', async () => {
  world.isRefusing = true;
  const { message } = await stage.untilCondition(
    ref,
    'PipelineReady',
    { status: 'True', reason: 'SomeRefused' },
    PATIENCE,
  );
  expect(message).toBe(
    'nodes → otel-gateway → http://127.0.0.1:1: documents for security-events are refused (mapper_parsing_exception) and kept in ' +
      'security-dead-letters, where error.message says why',
  );
  await stage.untilCondition(ref, 'Ready', { status: 'True' });
});

test('in all of this it was refused nothing: looking takes no further permission', async () => {
  expect(await stage.env.audit.entries({ user: OPERATOR_USER, code: 403 })).toEqual([]);
});
