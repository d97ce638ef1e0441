/**
 * How many events a pipeline takes from a file to the store, and what a thousand a second cost: ours beside pipelines by hand, in turn,
 * several rounds, medians. A sink stands for the store, because a store on the same machine is slower than any of them.
 */
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Standalone } from '@keelson/testenv';
import { falcoFile, lineOf } from '../../operators/security/src/telemetry/testing/flood.ts';
import { type Contender, contenders, OURS, type Running } from './contenders.ts';
import { startSink } from './sink.ts';

const EVENTS = 60_000;
const ROUNDS = 3;
const PACED = { perSecond: 1000, seconds: 20 };
/** USER_HZ of Linux. */
const TICKS = 100;

interface Measured {
  /** Events a second, between the first and the last tenth. */
  readonly rate: number;
  /** Seconds of CPU of all its processes, for a million events. */
  readonly cpu: number;
}

export async function measureTelemetry(): Promise<void> {
  const text = Array.from({ length: EVENTS }, (_, number) => `${lineOf(falcoFile, number)}\n`).join('');
  const measured = new Map(contenders.map(({ name }) => [name, [] as Measured[]]));
  for (let round = 0; round < ROUNDS; round++)
    for (const contender of turned(contenders, round)) {
      const result = await measureRate(contender, text);
      measured.get(contender.name)?.push(result);
      console.log(
        `round ${round + 1}: ${contender.name}: ${result.rate.toFixed(0)} events/s, ${result.cpu.toFixed(1)} s of CPU a million`,
      );
    }
  const rows = [...measured].map(([name, results]) => ({
    name,
    rate: median(results.map(({ rate }) => rate)),
    cpu: median(results.map(({ cpu }) => cpu)),
  }));
  const ours = rows.find(({ name }) => name === OURS);
  console.log(
    `\n| ${EVENTS} events of ${Math.round(text.length / EVENTS)} bytes | events/s | CPU a million events, s | ${OURS} against it: rate | CPU |`,
  );
  console.log('|---|---:|---:|---:|---:|');
  for (const { name, rate, cpu } of rows)
    console.log(
      `| ${name} | ${rate.toFixed(0)} | ${cpu.toFixed(1)} | ${((ours?.rate ?? 0) / rate).toFixed(2)} | ${((ours?.cpu ?? 0) / cpu).toFixed(2)} |`,
    );

  console.log(`\n| ${PACED.perSecond} events/s for ${PACED.seconds} s | CPU, % of a core | RSS at most, MiB |`);
  console.log('|---|---:|---:|');
  for (const contender of contenders)
    for (const { part, cpu, memory } of await measurePaced(contender))
      console.log(`| ${contender.name}: ${part} | ${cpu.toFixed(1)} | ${memory} |`);
}

async function measureRate(contender: Contender, text: string): Promise<Measured> {
  await using sink = await startSink();
  await using running = await contender.start(sink.url);
  const prepared = `${dirname(dirname(running.file))}/prepared`;
  await mkdir(dirname(running.file), { recursive: true });
  await writeFile(prepared, text);
  const before = await cpuOf(running);
  await rename(prepared, running.file);
  const [from, to] = await Promise.all([sink.arrived(EVENTS * 0.1), sink.arrived(EVENTS * 0.9)]);
  await sink.arrived(EVENTS);
  return {
    rate: (EVENTS * 0.8 * 1000) / (to - from),
    cpu: ((await cpuOf(running)) - before) * (1_000_000 / EVENTS),
  };
}

async function measurePaced(contender: Contender): Promise<readonly { part: string; cpu: number; memory: number }[]> {
  await using sink = await startSink();
  await using running = await contender.start(sink.url);
  await mkdir(dirname(running.file), { recursive: true });
  const parts = Object.entries(running.parts);
  const before = await Promise.all(parts.map(([, part]) => secondsOf(part)));
  const began = performance.now();
  const total = PACED.perSecond * PACED.seconds;
  for (let written = 0; written < total; ) {
    await sleep(100);
    const due = Math.min(Math.floor(((performance.now() - began) / 1000) * PACED.perSecond), total) - written;
    const lines = Array.from({ length: due }, (_, i) => `${lineOf(falcoFile, written + i)}\n`);
    await appendFile(running.file, lines.join(''));
    written += due;
  }
  await sink.arrived(total);
  const elapsed = (performance.now() - began) / 1000;
  return await Promise.all(
    parts.map(async ([part, process], i) => ({
      part,
      cpu: (((await secondsOf(process)) - (before[i] ?? 0)) / elapsed) * 100,
      memory: await peakOf(process),
    })),
  );
}

async function cpuOf({ parts }: Running): Promise<number> {
  const seconds = await Promise.all(Object.values(parts).map(secondsOf));
  return seconds.reduce((sum, one) => sum + one, 0);
}

/** Seconds of CPU that a program has used. */
async function secondsOf({ part }: Standalone): Promise<number> {
  const fields = (await readFile(`/proc/${part.pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** MiB that a program has held at most. */
async function peakOf({ part }: Standalone): Promise<number> {
  const status = await readFile(`/proc/${part.pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024);
}

/** Each round begins with another one: what comes first finds a colder machine. */
function turned<T>(list: readonly T[], by: number): readonly T[] {
  const at = by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
