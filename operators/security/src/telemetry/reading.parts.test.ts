/** What a collector on a node makes of files as they are in the world: both real collectors, and a store that can be looked into. */
import { appendFile, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { LogSource } from './source.ts';
import { type BulkStore, type Document, startBulkStore } from './testing/bulk-store.ts';
import { osqueryFile } from './testing/flood.ts';
import { type NodeAndGateway, startNodeAndGateway } from './testing/node-and-gateway.ts';
import { storeWith } from './testing/sources.ts';

/** A tool of its own for every test: nothing that one writes is another's. */
const sourceOf = (tool: string): LogSource => ({
  tool,
  path: `/var/log/security/${tool}/events.log`,
  index: 'events',
  time: { field: 'time', layout: '2006-01-02T15:04:05.999999999Z07:00', layoutType: 'gotime' },
});
const half = sourceOf('half');
const abandoned = sourceOf('abandoned');
const odd = sourceOf('odd');
const long = sourceOf('long');
const heavy = sourceOf('heavy');
const late = sourceOf('late');
const reborn = sourceOf('reborn');
const sources = [half, abandoned, odd, long, heavy, late, reborn, osqueryFile];

let store: BulkStore;
let collectors: NodeAndGateway;
beforeAll(async () => {
  store = await startBulkStore();
  collectors = await startNodeAndGateway({
    sources,
    store: storeWith({ url: store.url }),
    overrides: {
      node: {
        // Whatever time a restart takes, the end of the line comes before it is given up.
        receivers: { 'filelog/half': { force_flush_period: '10m' } },
        exporters: { otlp: { sending_queue: { batch: { flush_timeout: '200ms' } } } },
      },
    },
  });
});
afterAll(async () => {
  await collectors?.stop();
  await store?.[Symbol.asyncDispose]();
});

const line = (event: object) => JSON.stringify({ time: '2026-05-01T10:00:00Z', ...event });
const documentsOf = ({ tool }: LogSource) => store.documents.filter(({ security_tool }) => security_tool === tool);

/** Waits until so many documents of a tool are there, and long enough to see one too many. */
async function untilThere(source: LogSource, count: number): Promise<readonly Document[]> {
  await vi.waitFor(() => expect(documentsOf(source).length).toBeGreaterThanOrEqual(count), {
    timeout: 120_000,
    interval: 100,
  });
  await sleep(1000);
  expect(documentsOf(source)).toHaveLength(count);
  return documentsOf(source);
}

/** As they stand in their file: batches of one file may overtake each other. */
function inOrder(documents: readonly Document[]): readonly Document[] {
  const offset = (document: Document) => Number(document['log.file.record_offset']);
  return documents.toSorted((a, b) => offset(a) - offset(b));
}

async function append(source: LogSource, text: string | Buffer): Promise<void> {
  await mkdir(dirname(collectors.fileOf(source)), { recursive: true });
  await appendFile(collectors.fileOf(source), text);
}

test('a line that is half written waits for its end, over the death of the collector too', async () => {
  const text = line({ n: 1 });
  await append(half, text.slice(0, 20));
  await sleep(2000);
  await collectors.node.part.kill();
  await collectors.node.part.start();
  await sleep(2000);
  expect(documentsOf(half)).toEqual([]);
  await append(half, `${text.slice(20)}\n`);
  const [document] = await untilThere(half, 1);
  expect(document).toMatchObject({ half: { n: 1 }, '@timestamp': '2026-05-01T10:00:00Z' });
});

test('what a writer left of its last line is kept and marked after half a minute', async () => {
  await append(abandoned, `${line({ n: 1 })}\n{"n": 2, "wh`);
  const found = await untilThere(abandoned, 1);
  expect(found).toMatchObject([{ abandoned: { n: 1 } }]);
  await vi.waitFor(() => expect(documentsOf(abandoned)).toHaveLength(2), { timeout: 120_000, interval: 500 });
  expect(documentsOf(abandoned)[1]).toMatchObject({ message: '{"n": 2, "wh', 'event.kind': 'pipeline_error' });
});

test('empty lines are no events; CRLF, a byte order mark, invalid UTF-8 and null bytes cost no line', async () => {
  await append(odd, '');
  await append(odd, `\n\n${line({ n: 1 })}\r\n`);
  await append(odd, Buffer.concat([Buffer.from('{"n": 2, "text": "'), Buffer.from([0xff, 0xfe]), Buffer.from('"}\n')]));
  await append(odd, Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(`${line({ n: 3 })}\n`)]));
  await append(odd, Buffer.concat([Buffer.alloc(16), Buffer.from(`${line({ n: 4 })}\n${line({ n: 5 })}\n`)]));
  const found = inOrder(await untilThere(odd, 5));
  expect(found.map((document) => (document.odd as { n?: number } | undefined)?.n ?? document['event.kind'])).toEqual([
    1,
    2,
    'pipeline_error',
    'pipeline_error',
    5,
  ]);
  expect(found[1]).toMatchObject({ odd: { text: '\ufffd\ufffd' } });
});

test('a line of 3 MiB is stored whole; of one above 4 MiB every byte is kept, in pieces that are marked', async () => {
  const letters = 'x'.repeat(3 * 1024 * 1024);
  const monster = line({ text: 'y'.repeat(9 * 1024 * 1024) });
  await append(long, `${line({ n: 1, letters })}\n${monster}\n${line({ n: 2 })}\n`);
  const [whole, ...pieces] = inOrder(await untilThere(long, 5));
  expect((whole as { long?: { letters?: string } }).long?.letters?.length).toBe(letters.length);
  expect(pieces.at(-1)).toMatchObject({ long: { n: 2 } });
  const kept = pieces.slice(0, -1);
  for (const piece of kept) expect(piece['event.kind']).toBe('pipeline_error');
  expect(kept.map(({ message }) => message).join('') === monster).toBe(true);
});

test('fifty lines of 2 MiB at once: more than one request may hold', async () => {
  const text = 'z'.repeat(2 * 1024 * 1024);
  const handle = await open(await prepared(heavy), 'a');
  for (let n = 0; n < 50; n++) await handle.write(`${line({ n, text })}\n`);
  await handle.close();
  const found = await untilThere(heavy, 50);
  expect(found.map(({ heavy: event }) => (event as { n: number }).n).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 50 }, (_, n) => n),
  );
});

test('a file that appears late, and was empty for a while, is read from its first line', async () => {
  await writeFile(await prepared(late), '');
  await sleep(1000);
  await append(late, `${line({ n: 1 })}\n`);
  await untilThere(late, 1);
});

test('another file at the inode of an old one is another file: removed and made anew, or written over', async () => {
  const file = await prepared(reborn);
  const rounds = [1, 2, 3].map((round) => ({
    round,
    text: `${line({ round })}\n${line({ round, last: true })}\n`.repeat(round),
  }));
  const [first, second, third] = rounds.map(({ text }) => text) as [string, string, string];
  await writeFile(file, first);
  await untilThere(reborn, 2);
  const { ino } = await stat(file);
  // Longer than before: by its length alone it has grown.
  await writeFile(file, second);
  expect((await stat(file)).ino).toBe(ino);
  await untilThere(reborn, 6);
  await rm(file);
  await writeFile(file, third);
  await untilThere(reborn, 12);
});

test('two files that begin with the same kilobytes are both read: osquery tells the time of a snapshot at its end', async () => {
  const rows = Array.from({ length: 60 }, (_, i) => ({ name: `module_${i}`, used_by: '-', status: 'Live' }));
  const snapshot = (counter: number) =>
    JSON.stringify({ snapshot: rows, action: 'snapshot', name: 'modules', unixTime: 1_777_629_600 + counter, counter });
  expect(snapshot(1).slice(0, 3000)).toBe(snapshot(2).slice(0, 3000));
  const file = await prepared(osqueryFile);
  await append(osqueryFile, `${snapshot(1)}\n`);
  await untilThere(osqueryFile, 1);
  await collectors.node.part.kill();
  await append(osqueryFile, `${snapshot(2)}\n`);
  await rename(file, `${file}.1`);
  await append(osqueryFile, `${snapshot(3)}\n${snapshot(4)}\n`);
  await collectors.node.part.start();
  await untilThere(osqueryFile, 4);
});

async function prepared(source: LogSource): Promise<string> {
  const file = collectors.fileOf(source);
  await mkdir(dirname(file), { recursive: true });
  return file;
}
