/**
 * OpenSearch as the store: real collectors, the real relay, a stock OpenSearch. Events are in the right index with the right fields; and whatever
 * of the three behind the node dies, each is there once.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { recorded as falcoEvents } from '../features/falco/testing/recorded.ts';
import { falcoFile } from './testing/flood.ts';
import { type Pipeline, startPipeline } from './testing/pipeline.ts';
import { RECORDED_AT } from './testing/recorded.ts';
import { asText, tools } from './testing/recorded-tools.ts';

/** No more lines in a batch of the node than it reads at once: many are on their way at any time. */
const overrides = { node: { exporters: { otlp: { sending_queue: { batch: { flush_timeout: '200ms' } } } } } };

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline({
    store: 'opensearch',
    sources: tools.map(({ source }) => source),
    cluster: 'prod',
    overrides,
  });
});
afterAll(() => pipeline?.stop());

const countOf = (query: string, index = 'security-events') => pipeline.count(index, query);
const until = (query: string, count: number, index?: string) =>
  vi.waitFor(async () => expect(await countOf(query, index)).toBe(count), { timeout: 120_000, interval: 500 });

test('every kind of event is in the right index, at its own time, with the fields that all tools share', async () => {
  for (const { source, events } of tools)
    await pipeline.write(source, ...events.map(({ event }) => JSON.stringify(event)));

  for (const { source, events, index } of tools) {
    await until(`security_tool:${source.tool}`, events.length, index);
    const found = await pipeline.documents(index, 'security_tool', source.tool);
    for (const { kind, event, at = RECORDED_AT, shared } of events) {
      const document = found.find((one) => asText(one[source.tool]) === asText(event));
      expect(document, `${source.tool}, ${kind}`).toMatchObject({
        security_tool: source.tool,
        'kubernetes.node.name': 'node-1',
        'orchestrator.cluster.name': 'prod',
        ...shared,
      });
      expect(String(document?.['@timestamp']), kind).toMatch(new RegExp(`^${at}`));
    }
  }
  console.log(`${tools.flatMap(({ events }) => events).length} kinds of events, each whole and in its index`);
});

test('what is in the event of a tool is found by its path, and one query serves all tools', async () => {
  expect(await countOf('threat.technique.id:T1059.004')).toBe(2);
  const [rule] = falcoEvents.flatMap(({ event }) => (event as { rule?: string }).rule ?? []);
  expect(await countOf(`falco.rule:"${rule}"`)).toBeGreaterThan(0);
});

test('gateway and relay killed again and again, and the store stopped: nothing lost, nothing twice', async () => {
  const rounds = 6;
  const each = 400;
  const line = (number: number) => JSON.stringify({ time: RECORDED_AT, rule: 'flood', output_fields: { number } });
  const { gateway, relay, store } = pipeline;
  for (let round = 0; round < rounds; round += 1) {
    const lines = Array.from({ length: each }, (_, index) => line(round * each + index));
    const before = await relay.answered();
    await pipeline.write(falcoFile, ...lines.slice(0, each / 2));
    // Events are on their way by then.
    await vi.waitFor(async () => expect(await relay.answered()).toBeGreaterThan(before), {
      timeout: 90_000,
      interval: 50,
    });
    await pipeline.write(falcoFile, ...lines.slice(each / 2));
    const victim = [gateway, relay, store][round % 3];
    await victim?.part.kill();
    await new Promise((resolve) => setTimeout(resolve, 3000));
    await victim?.part.start();
  }
  await until('rule.name:flood', rounds * each);
  // What came late would be too many now.
  await new Promise((resolve) => setTimeout(resolve, 5000));
  expect(await countOf('rule.name:flood')).toBe(rounds * each);
  const answer = await fetch(`${store.url}/security-events/_search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      size: 10_000,
      query: { term: { 'rule.name': 'flood' } },
      _source: ['falco.output_fields.number'],
    }),
  });
  const { hits } = (await answer.json()) as {
    hits: { hits: { _source: { falco: { output_fields: { number: number } } } }[] };
  };
  const numbers = new Set(hits.hits.map(({ _source }) => _source.falco.output_fields.number));
  expect(numbers.size).toBe(rounds * each);
  console.log(`${rounds * each} events, gateway, relay and store killed twice each: ${numbers.size} documents`);
}, 900_000);

test('a value that OpenSearch refuses is a dead letter, and the events beside it are stored', async () => {
  const refused = { time: RECORDED_AT, rule: 'huge', output_fields: { huge: 'x'.repeat(100_000) } };
  await pipeline.write(falcoFile, JSON.stringify(refused), JSON.stringify({ time: RECORDED_AT, rule: 'beside' }));
  await until('rule.name:beside', 1);
  await until('dead_letter.index:"security-events"', 1, 'security-dead-letters');
  const [letter] = await pipeline.documents('security-dead-letters', 'dead_letter.index', 'security-events');
  expect(JSON.stringify(letter)).toContain('immense term');
  expect(JSON.stringify(letter)).toContain('x'.repeat(100_000));
});
