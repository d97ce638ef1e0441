import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { rotationScript } from './rotation.ts';

let folder: string;
let running: ChildProcess | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rotation-'));
});

afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});

function start(maxBytes: number, maxFiles: number): string {
  const FILE = join(folder, 'events.log');
  const env = { PATH: process.env.PATH, FILE, MAX_BYTES: `${maxBytes}`, MAX_FILES: `${maxFiles}`, INTERVAL: '0.05' };
  running = spawn('/bin/sh', ['-c', rotationScript], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  return FILE;
}

async function stop(): Promise<number | null | undefined> {
  const child = running;
  running = undefined;
  if (child === undefined) return undefined;
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  return await ended;
}

const files = () => readdirSync(folder).sort();

test('a file that grew too large makes place, and the oldest goes', async () => {
  const file = start(10, 2);

  for (const word of ['first', 'second', 'third']) {
    writeFileSync(file, `${word} event\n`);
    await vi.waitFor(() => expect(readFileSync(`${file}.1`, 'utf8')).toBe(`${word} event\n`));
  }

  expect(files()).toEqual(['events.log.1', 'events.log.2']);
  expect(readFileSync(`${file}.2`, 'utf8')).toBe('second event\n');
});

test('a small file, and none at all, are left alone', async () => {
  const file = start(1000, 3);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(files()).toEqual([]);

  writeFileSync(file, 'small\n');
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(files()).toEqual(['events.log']);
});

test('one rotated file is kept where one is wanted', async () => {
  const file = start(5, 1);
  for (const word of ['first event\n', 'second event\n']) {
    writeFileSync(file, word);
    await vi.waitFor(() => expect(readFileSync(`${file}.1`, 'utf8')).toBe(word));
  }
  expect(files()).toEqual(['events.log.1']);
});

test('nobody but its owner may look into the folder', async () => {
  chmodSync(folder, 0o755);
  start(10, 2);

  await vi.waitFor(() => expect(statSync(folder).mode & 0o777).toBe(0o700));
});

test('asked to end, it ends at once and in order', async () => {
  start(10, 2);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const begun = Date.now();

  expect(await stop()).toBe(0);
  expect(Date.now() - begun).toBeLessThan(2000);
});
