/**
 * Nothing is lost and nothing is there twice, whatever dies: both real collectors and a real Elasticsearch, on the configurations that
 * the operator renders, while everything that may go wrong does. SEED=<number> repeats the times of a run.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { falcoFile, nameOf, osqueryFile, tetragonFile, Writer } from './testing/flood.ts';
import type { Side } from './testing/node-and-gateway.ts';
import { type Document, type Pipeline, startPipeline } from './testing/pipeline.ts';
import { randomOf } from './testing/random.ts';
import { mountSmallDisk, type SmallDisk } from './testing/small-disk.ts';

const SECONDS = 100;
const SHARES = [
  { source: falcoFile, events: 100_000 },
  { source: tetragonFile, events: 70_000 },
  { source: osqueryFile, events: 30_000 },
];
const EVENTS = SHARES.reduce((sum, { events }) => sum + events, 0);
const MiB = 1024 * 1024;
const DISKS = { node: 256 * MiB, gateway: 1024 * MiB };
/** What a nearly full disk has left. None at all is more than a queue on disk can bear (docs/guides/telemetry.md). */
const LEFT = 40 * MiB;

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test(`${EVENTS} events, and all that may go wrong`, { timeout: 900_000 }, async () => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  const random = randomOf(seed);
  const { pipeline, disks } = await start();
  const writers = SHARES.map(({ source, events }) => ({ events, writer: new Writer(source, pipeline.fileOf(source)) }));
  const began = Date.now();
  const until = (second: number) => sleep(Math.max(0, began + second * 1000 - Date.now()));
  const kills = { node: 0, gateway: 0, relay: 0 };

  const kill = async (side: keyof typeof kills) => {
    await pipeline[side].part.kill();
    kills[side] += 1;
    await sleep(random() * 1000);
    await pipeline[side].part.start();
  };
  /** Does something so many times, at any times. */
  const often = async (count: number, work: () => Promise<void>) => {
    const times = Array.from({ length: count }, () => 2 + random() * (SECONDS - 4)).sort((a, b) => a - b);
    for (const time of times) {
      await until(time);
      await work();
    }
  };
  const write = async () => {
    for (let elapsed = 0; elapsed < SECONDS; ) {
      await sleep(100);
      elapsed = Math.min((Date.now() - began) / 1000, SECONDS);
      for (const { events, writer } of writers)
        await writer.write(Math.round((events * elapsed) / SECONDS) - writer.written);
    }
  };
  const fillDisk = async (side: Side, from: number) => {
    await until(from);
    await disks[side].fill(LEFT);
    await sleep(5000);
    await disks[side].relieve();
  };
  const loseStore = async () => {
    await until(20);
    await pipeline.store.part.kill();
    await sleep(60_000);
    await pipeline.store.part.start();
  };
  const [falco, tetragon, osquery] = writers.map(({ writer }) => writer) as [Writer, Writer, Writer];
  await Promise.all([
    write(),
    loseStore(),
    often(10, () => kill('node')),
    often(10, () => kill('gateway')),
    often(5, () => kill('relay')),
    often(7, () => falco.rename()),
    often(6, () => tetragon.rename()),
    often(7, () => osquery.copyAndTruncate()),
    // Once while the store is away and the queue grows, once while it is short.
    fillDisk('gateway', 40),
    fillDisk('node', 60),
  ]);

  await untilSettled(pipeline);
  const names = (await allOf(pipeline)).map(nameOf);
  const lost = writers.flatMap(({ events, writer: { source } }) => missing(names, source.tool, events));
  const rotations = falco.rotated + tetragon.rotated + osquery.rotated;
  console.log(
    `seed ${seed}: ${EVENTS} produced, ${new Set(names).size} delivered, ${lost.length} lost, ${names.length - new Set(names).size} twice; ` +
      `store away for 60 s, gateway killed -9 ${kills.gateway} times, node collector ${kills.node} times, relay ${kills.relay} times, ` +
      `${rotations} rotations (${osquery.rotated} by copy and truncate), both disks full but for ${LEFT / MiB} MiB for 5 s; ${Math.round((Date.now() - began) / 1000)} s`,
  );
  expect(lost.slice(0, 20)).toEqual([]);
  expect(names).toHaveLength(EVENTS);
});

async function start(): Promise<{ pipeline: Pipeline; disks: Readonly<Record<Side, SmallDisk>> }> {
  const dir = await mkdtemp(join(tmpdir(), 'keelson-disks-'));
  cleanups.push(() => rm(dir, { recursive: true, force: true }));
  const disks = {
    node: await mountSmallDisk(join(dir, 'node'), DISKS.node),
    gateway: await mountSmallDisk(join(dir, 'gateway'), DISKS.gateway),
  };
  for (const disk of Object.values(disks)) cleanups.push(async () => disk[Symbol.asyncDispose]());
  const pipeline = await startPipeline({
    sources: SHARES.map(({ source }) => source),
    cluster: 'prod',
    node: 'node-1',
    storage: { node: join(disks.node.dir, 'queue'), gateway: join(disks.gateway.dir, 'queue') },
  });
  cleanups.push(() => pipeline.stop());
  return { pipeline, disks };
}

/** Waits until all is there and what may come again has come, or nothing comes any more. */
async function untilSettled(pipeline: Pipeline): Promise<void> {
  const patience = 180_000;
  let [count, since] = [0, Date.now()];
  while (Date.now() - since < (count === EVENTS ? 8000 : patience)) {
    await sleep(1000);
    const now = await countOf(pipeline);
    if (now !== count) [count, since] = [now, Date.now()];
  }
}

const INDICES = 'security-events,security-inventory';

async function countOf({ store }: Pipeline): Promise<number> {
  await fetch(`${store.url}/${INDICES}/_refresh?ignore_unavailable=true`, { method: 'POST' });
  const answer = await fetch(`${store.url}/${INDICES}/_count?ignore_unavailable=true`);
  return ((await answer.json()) as { count: number }).count;
}

interface Page {
  readonly _scroll_id: string;
  readonly hits: { readonly hits: readonly { readonly _source: Document }[] };
}

/** Every document, but only what tells the number of its event. */
async function allOf({ store }: Pipeline): Promise<readonly Document[]> {
  const fields = ['falco.output_fields', 'tetragon.process_exec.process.pid', 'osquery.columns'];
  const ask = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${store.url}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as Page;
  };
  const documents: Document[] = [];
  let page = await ask(`${INDICES}/_search?scroll=1m`, { size: 10_000, sort: ['_doc'], _source: fields });
  while (page.hits.hits.length > 0) {
    documents.push(...page.hits.hits.map(({ _source }) => _source));
    page = await ask('_search/scroll', { scroll: '1m', scroll_id: page._scroll_id });
  }
  return documents;
}

/** The events of a tool that are not there. */
function missing(names: readonly string[], tool: string, events: number): readonly string[] {
  const there = new Set(names);
  return Array.from({ length: events }, (_, number) => `${tool}/${number}`).filter((name) => !there.has(name));
}
