/**
 * Events in the real formats of the tools become documents: through both real collectors, into a real Elasticsearch. And however often
 * a collector dies or reads its files again, each is there once.
 */
import { rename, rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { falcoFile } from './testing/flood.ts';
import { type Document, type Pipeline, startPipeline } from './testing/pipeline.ts';
import { RECORDED_AT } from './testing/recorded.ts';
import { asText, tools } from './testing/recorded-tools.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline({ sources: tools.map(({ source }) => source), cluster: 'prod', node: 'node-1' });
});
afterAll(() => pipeline?.stop());

/** What the node and the collectors add to every document. */
const carried = ['@timestamp', 'security_tool', 'kubernetes.node.name', 'orchestrator.cluster.name', 'log.file.path'];

test('every kind of event is in the right index, at its own time, whole, and with the fields that all tools share', async () => {
  for (const { source, events } of tools)
    await pipeline.write(source, ...events.map(({ event }) => JSON.stringify(event)));

  for (const { source, events, index } of tools) {
    const found = await pipeline.untilFound(index, 'security_tool', source.tool, events.length);
    for (const { kind, event, at = RECORDED_AT, shared } of events) {
      const document = found.find((one) => asText(one[source.tool]) === asText(event));
      expect(document, `${source.tool}, ${kind}: ${JSON.stringify(found)}`).toBeDefined();
      const { [source.tool]: _event, 'log.file.record_offset': _offset, ...rest } = document as Document;
      const { '@timestamp': time, ...stamps } = Object.fromEntries(carried.map((name) => [name, rest[name]]));
      expect(String(time), kind).toMatch(new RegExp(`^${at}`));
      expect(stamps).toEqual({
        security_tool: source.tool,
        'kubernetes.node.name': 'node-1',
        'orchestrator.cluster.name': 'prod',
        'log.file.path': pipeline.fileOf(source),
      });
      expect(Object.fromEntries(Object.entries(rest).filter(([name]) => !carried.includes(name))), kind).toEqual(
        shared,
      );
    }
  }
  console.log(`${tools.flatMap(({ events }) => events).length} kinds of events, each whole and in its index`);
});

test('integers stay integers', async () => {
  const answer = await fetch(`${pipeline.store.url}/security-*/_search?size=100&filter_path=hits.hits._source`);
  const text = await answer.text();
  expect(text).toMatch(/"size":9007199254740[,}]/);
  expect(text).toMatch(/"auid":4294967295[,}]/);
  expect(text).not.toMatch(/:\d+\.0[,}]/);
});

test('one query finds what Falco and Tetragon saw of one technique', async () => {
  const found = await pipeline.documents('security-events', 'threat.technique.id', 'T1059.004');
  expect(found.map(({ security_tool }) => security_tool).sort()).toEqual(['falco', 'tetragon']);
});

test('killed again and again, and made to read everything anew, no event is lost and none is there twice', async () => {
  const count = 3000;
  const line = (number: number) => JSON.stringify({ time: RECORDED_AT, rule: 'flood', output_fields: { number } });
  for (let batch = 0; batch < 6; batch++) {
    const numbers = Array.from({ length: count / 6 }, (_, index) => (batch * count) / 6 + index);
    // Two like lines, with the same time, are two events.
    await pipeline.write(falcoFile, ...numbers.map(line), line(-1 - batch), line(-1 - batch));
    // Another path, the same lines at the same places.
    if (batch === 3) await rename(pipeline.fileOf(falcoFile), `${pipeline.fileOf(falcoFile)}.1`);
    const victim = batch % 2 === 0 ? pipeline.node : pipeline.gateway;
    await victim.part.kill();
    await victim.part.start();
  }
  const total = count + 12;
  const arrived = () => pipeline.count('security-events', 'rule.name:flood');
  await vi.waitFor(async () => expect(await arrived()).toBe(total), { timeout: 120_000, interval: 500 });

  const refused = await refusals();
  await pipeline.node.part.kill();
  await rm(pipeline.storage.node, { recursive: true });
  await pipeline.node.part.start();
  // All of it has come again when the store has refused it: what it had is what it keeps.
  await vi.waitFor(async () => expect((await refusals()) - refused).toBeGreaterThanOrEqual(total), {
    timeout: 120_000,
    interval: 500,
  });
  expect(await arrived()).toBe(total);
  console.log(
    `${total} events, 6 kills -9, a rotation, all read twice: ${await arrived()} documents, ${(await refusals()) - refused} refused`,
  );
});

/** How many documents the store has refused so far: those whose id it has already. */
async function refusals(): Promise<number> {
  const answer = await fetch(`${pipeline.store.url}/security-events/_stats/indexing`);
  const { _all } = (await answer.json()) as { _all: { primaries: { indexing: { index_failed: number } } } };
  return _all.primaries.indexing.index_failed;
}
