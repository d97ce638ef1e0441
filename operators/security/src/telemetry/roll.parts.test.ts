/** A tool is switched off and on while events flow: who gets another configuration is rolled, and nobody's events are lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type BulkStore, startBulkStore } from './testing/bulk-store.ts';
import { falcoFile, nameOf, osqueryFile, tetragonFile, Writer } from './testing/flood.ts';
import { type NodeAndGateway, startNodeAndGateway } from './testing/node-and-gateway.ts';
import { storeWith } from './testing/sources.ts';

let store: BulkStore;
let collectors: NodeAndGateway;
beforeAll(async () => {
  store = await startBulkStore();
  const sources = [falcoFile, tetragonFile, osqueryFile];
  collectors = await startNodeAndGateway({ sources, store: storeWith({ url: store.url }) });
});
afterAll(async () => {
  await collectors?.stop();
  await store?.[Symbol.asyncDispose]();
});

test('Falco is switched off, then osquery, and both on again: every event of every tool is there once', {
  timeout: 600_000,
}, async () => {
  const [falco, tetragon, osquery] = [falcoFile, tetragonFile, osqueryFile].map(
    (source) => new Writer(source, collectors.fileOf(source)),
  ) as [Writer, Writer, Writer];
  const stop = new AbortController();
  const writing = (async () => {
    while (!stop.signal.aborted) {
      await Promise.all([falco, tetragon, osquery].map((writer) => writer.write(20)));
      await sleep(50);
    }
  })();
  const flow = () => sleep(4000);

  await flow();
  // In a cluster the tool ends with its receiver. Here it goes on, which is harder: it is written what nobody reads.
  expect(await collectors.roll([tetragonFile, osqueryFile])).toEqual(['node']);
  await flow();
  // The only tool of its index: that is what the gateways know.
  expect(await collectors.roll([tetragonFile])).toEqual(['node', 'gateway']);
  await flow();
  const unread = count('falco');
  expect(unread).toBeLessThan(falco.written);
  // What was written meanwhile is read when the tool is back: how far its file was read is remembered.
  expect(await collectors.roll([falcoFile, tetragonFile, osqueryFile])).toEqual(['node', 'gateway']);
  await flow();
  stop.abort();
  await writing;

  const written = [falco, tetragon, osquery].flatMap(({ source, written: events }) =>
    Array.from({ length: events }, (_, n) => `${source.tool}/${n}`),
  );
  await vi.waitFor(() => expect(store.documents.length).toBeGreaterThanOrEqual(written.length), {
    timeout: 180_000,
    interval: 500,
  });
  const there = store.documents.map(nameOf);
  console.log(
    `${written.length} events of three tools, ${there.length} stored, ${there.length - new Set(there).size} twice`,
  );
  expect(there.toSorted()).toEqual(written.toSorted());
});

function count(tool: string): number {
  return store.documents.filter(({ security_tool }) => security_tool === tool).length;
}
