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

let said: string;
const patience = { timeout: 30_000 };

function start(
  maxBytes: number,
  maxFiles: number,
  given: { readonly PATH?: string; readonly FILE?: string; readonly INTERVAL?: string } = {},
): string {
  const FILE = join(folder, 'events.log');
  const limits = { MAX_BYTES: `${maxBytes}`, MAX_FILES: `${maxFiles}`, INTERVAL: '0.05' };
  const env = { PATH: process.env.PATH, FILE, ...limits, ...given };
  const child = spawn('/bin/sh', ['-c', rotationScript], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  said = '';
  child.stderr.on('data', (text) => (said += String(text)));
  running = child;
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
    await vi.waitFor(() => expect(readFileSync(`${file}.1`, 'utf8')).toBe(`${word} event\n`), patience);
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
  expect(said).toBe('');
});

test('one rotated file is kept where one is wanted', async () => {
  const file = start(5, 1);
  for (const word of ['first event\n', 'second event\n']) {
    writeFileSync(file, word);
    await vi.waitFor(() => expect(readFileSync(`${file}.1`, 'utf8')).toBe(word), patience);
  }
  expect(files()).toEqual(['events.log.1']);
});

test('nobody but its owner may look into the folder', async () => {
  chmodSync(folder, 0o755);
  start(10, 2);

  await vi.waitFor(() => expect(statSync(folder).mode & 0o777).toBe(0o700), patience);
});

test('what fails is said, once', async () => {
  const tools = mkdtempSync(join(tmpdir(), 'tools-'));
  writeFileSync(join(tools, 'mv'), '#!/bin/sh\necho "mv: Permission denied" >&2\nexit 1\n', { mode: 0o755 });
  const file = start(5, 1, { PATH: `${tools}:${process.env.PATH}` });
  writeFileSync(file, 'an event\n');

  const expected = `cannot rotate ${file}: mv: Permission denied\n`;
  await vi.waitFor(() => expect(said).toBe(expected), patience);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(said).toBe(expected);
  expect(readFileSync(file, 'utf8')).toBe('an event\n');
  rmSync(tools, { recursive: true });
});

test('a folder that cannot be closed or seen is said', async () => {
  const nowhere = join(folder, 'nowhere');
  start(5, 1, { FILE: join(nowhere, 'events.log') });

  await vi.waitFor(() => expect(said).toContain(`cannot look into ${nowhere}: stat: `), patience);
  expect(said).toContain(`cannot close ${nowhere} to others: chmod: `);
});

test('asked to end, it ends in order, and not after its pause', async () => {
  chmodSync(folder, 0o755);
  start(10, 2, { INTERVAL: '60' });
  // It runs when it has closed the folder.
  await vi.waitFor(() => expect(statSync(folder).mode & 0o777).toBe(0o700), patience);
  const begun = Date.now();

  expect(await stop()).toBe(0);
  expect(Date.now() - begun).toBeLessThan(30_000);
});
