/** Lines in files become documents in an index: both real collectors, as they are configured, and a real Elasticsearch. */
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Pipeline, startPipeline } from './testing/pipeline.ts';
import { census, guard, watcher } from './testing/sources.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: the collector's own syntax
const cluster = 'prod ${env:HOME} $1';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline({ sources: [guard, watcher, census], cluster, node: '10' });
});
afterAll(() => pipeline?.stop());

test('an event is found in the index of its tool, with its own time, severity and integers', async () => {
  const time = '2024-05-01T10:00:00.123456789+02:00';
  await pipeline.write(guard, JSON.stringify({ rule: 'shell', time, how: { bad: 'Bad' }, pid: 9_007_199_254_740 }));
  await pipeline.write(census, JSON.stringify({ name: 'ports', unixTime: 1_714_550_400, columns: { port: '22' } }));

  const [event] = await pipeline.untilFound('security-events', 'guard.rule', 'shell');
  expect(event).toEqual({
    '@timestamp': '2024-05-01T08:00:00.123456789Z',
    security_tool: 'guard',
    'kubernetes.node.name': '10',
    'orchestrator.cluster.name': cluster,
    'log.file.path': pipeline.fileOf(guard),
    'log.file.record_offset': 0,
    'log.level': 'Bad',
    'event.severity': 17,
    'rule.name': 'shell',
    guard: { rule: 'shell', time, how: { bad: 'Bad' }, pid: 9_007_199_254_740 },
  });
  const [finding] = await pipeline.untilFound('security-inventory', 'census.name', 'ports');
  expect(finding).toMatchObject({
    '@timestamp': expect.stringMatching(/^2024-05-01T08:00:00(\.0+)?Z$/),
    security_tool: 'census',
  });
  expect(await pipeline.documents('security-events', 'security_tool', 'census')).toEqual([]);
});

test('a line that is no JSON object is kept and marked, and one with an odd time is kept with that of its arrival', async () => {
  const before = new Date().toISOString();
  await pipeline.write(
    guard,
    'panic: {not json',
    '["not an object"]',
    JSON.stringify({ rule: 'odd time', time: 'yesterday' }),
  );

  const marked = await pipeline.untilFound('security-events', 'event.kind', 'pipeline_error', 2);
  expect(marked.map(({ message }) => message).sort()).toEqual(['["not an object"]', 'panic: {not json']);
  for (const document of marked)
    expect(document).toMatchObject({ security_tool: 'guard', 'kubernetes.node.name': '10' });
  const [odd] = await pipeline.untilFound('security-events', 'guard.rule', 'odd time');
  expect(odd?.['event.kind']).toBeUndefined();
  expect(String(odd?.['@timestamp']) > before).toBe(true);
});

test('what is written and rotated away while the collector is dead is read afterwards, and nothing twice', async () => {
  await pipeline.write(watcher, JSON.stringify({ what: 'first' }));
  await pipeline.untilFound('security-events', 'watcher.what', 'first');
  await pipeline.node.part.kill();
  await pipeline.write(watcher, JSON.stringify({ what: 'second' }));
  await rename(pipeline.fileOf(watcher), join(dirname(pipeline.fileOf(watcher)), 'events-2024.log'));
  await pipeline.write(watcher, JSON.stringify({ what: 'third' }));
  await pipeline.node.part.start();

  await pipeline.untilFound('security-events', 'watcher.what', 'second');
  await pipeline.untilFound('security-events', 'watcher.what', 'third');
  expect(await pipeline.documents('security-events', 'watcher.what', 'first')).toHaveLength(1);
});

test('what comes while the store is away waits in the gateway, over its death', async () => {
  await pipeline.store.part.kill();
  const inVain = () => pipeline.relay.answered((status) => status >= 500);
  const before = await inVain();
  await pipeline.write(guard, JSON.stringify({ rule: 'while away' }));
  // The gateway has it when it has tried; and nobody else can send it from then on.
  await vi.waitFor(async () => expect(await inVain()).toBeGreaterThan(before), { timeout: 90_000, interval: 250 });
  await pipeline.node.part.kill();
  await pipeline.gateway.part.kill();
  await pipeline.gateway.part.start();
  await pipeline.store.part.start();

  await pipeline.untilFound('security-events', 'guard.rule', 'while away');
});
