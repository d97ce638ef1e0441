/**
 * A store that is away for longer than the queues hold: files wait, memory does not grow, and all arrives afterwards. Queues are small
 * here, so that they are full soon.
 */
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { type BulkStore, startBulkStore } from './testing/bulk-store.ts';
import { falcoFile, nameOf, tetragonFile, Writer } from './testing/flood.ts';
import { endGracefully, MEMORY, type NodeAndGateway, startNodeAndGateway } from './testing/node-and-gateway.ts';
import { memoryOf, positionIn } from './testing/process.ts';
import { storeWith } from './testing/sources.ts';

const small = { queue_size: 4_000_000 };
/** Tried again as soon as the store is back: a test has no half a minute for it. */
const soon = { max_interval: '2s' };

let store: BulkStore;
let collectors: NodeAndGateway;
afterEach(async () => {
  await collectors?.stop();
  await store?.[Symbol.asyncDispose]();
});

async function start(): Promise<readonly Writer[]> {
  store = await startBulkStore();
  const sources = [falcoFile, tetragonFile];
  collectors = await startNodeAndGateway({
    sources,
    store: storeWith({ url: store.url }),
    overrides: {
      node: { exporters: { otlp: { sending_queue: small, retry_on_failure: soon } } },
      gateway: { exporters: { 'elasticsearch/events': { sending_queue: small, retry: soon } } },
    },
  });
  return sources.map((source) => new Writer(source, collectors.fileOf(source)));
}

const positionsOf = (writers: readonly Writer[]) =>
  Promise.all(writers.map(({ file }) => positionIn(collectors.node, file)));

/** Waits until nothing has been read for a while. */
async function untilStill(writers: readonly Writer[]): Promise<void> {
  let before: readonly number[] = [];
  await vi.waitFor(
    async () => {
      const last = before;
      before = await positionsOf(writers);
      expect(before).toEqual(last);
      expect(before).not.toContain(0);
    },
    { timeout: 180_000, interval: 8000 },
  );
}

/** All that was written is there, and nothing twice. */
async function untilComplete(writers: readonly Writer[]): Promise<void> {
  const written = writers.reduce((sum, writer) => sum + writer.written, 0);
  const missing = () => {
    const there = new Set(store.documents.map(nameOf));
    return writers.flatMap(({ source, written: count }) =>
      Array.from({ length: count }, (_, n) => `${source.tool}/${n}`).filter((name) => !there.has(name)),
    );
  };
  await vi
    .waitFor(() => expect(store.documents.length).toBeGreaterThanOrEqual(written), {
      timeout: 300_000,
      interval: 500,
    })
    .catch(() => undefined);
  const lost = missing();
  console.log(`${written} written, ${lost.length} lost, ${store.documents.length - written + lost.length} twice`);
  expect(lost.slice(0, 5)).toEqual([]);
  expect(store.documents).toHaveLength(written);
}

test('files wait, memory stays within what the containers have, and all arrives afterwards', {
  timeout: 900_000,
}, async () => {
  const writers = await start();
  store.away = true;
  for (const writer of writers) for (let i = 0; i < 30; i++) await writer.write(1000);
  const sizes = await Promise.all(writers.map(async ({ file }) => (await stat(file)).size));
  await untilStill(writers);
  await sleep(10_000);
  const positions = await positionsOf(writers);
  for (const [i, position] of positions.entries()) expect(position).toBeLessThan((sizes[i] ?? 0) / 2);
  const [node, gateway] = await Promise.all([memoryOf(collectors.node), memoryOf(collectors.gateway)]);
  console.log(
    `store away, queues of 4 MB full: ${positions.map((at, i) => `${at} of ${sizes[i]} bytes read`).join(', ')}; ` +
      `memory of the node collector ${node.now} MiB (at most ${node.peak}), of the gateway ${gateway.now} MiB (at most ${gateway.peak})`,
  );
  expect(node.peak).toBeLessThan(MEMORY.node);
  expect(gateway.peak).toBeLessThan(MEMORY.gateway);
  store.away = false;
  await untilComplete(writers);
});

test('what waits outlives its collector: the gateway killed and told to end, the node collector killed', {
  timeout: 900_000,
}, async () => {
  const writers = await start();
  store.away = true;
  for (const writer of writers) for (let i = 0; i < 20; i++) await writer.write(1000);
  await untilStill(writers);
  const { node, gateway } = collectors;
  await gateway.part.kill();
  await gateway.part.start();
  await sleep(3000);
  await endGracefully(gateway);
  await gateway.part.start();
  // Told to end while its queue is full, a node collector loses up to 100 lines of each file (docs/guides/telemetry.md).
  await node.part.kill();
  await node.part.start();
  await sleep(3000);
  store.away = false;
  await untilComplete(writers);
});
