import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { acquireLock } from './lock.ts';

describe('a lock between processes', () => {
  let dir: string;
  let path: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'keelson-lock-'));
    path = join(dir, 'lock');
  });
  afterEach(() => rm(dir, { recursive: true }));

  test('is held by one at a time, and a waiter is told by whom', async () => {
    const holders: string[] = [];
    const first = await acquireLock(path);
    let isReleased = false;
    const second = acquireLock(path, { onWait: (holder) => holders.push(holder) }).then((lock) => {
      expect(isReleased).toBe(true);
      return lock;
    });
    await sleep(100);
    isReleased = true;
    await first.release();
    await (await second).release();
    expect(holders).toEqual([`${process.pid} on ${hostname()}`]);
    await expect(readFile(path)).rejects.toThrow('ENOENT');
  });

  test('is taken over at once from a process that is gone', async () => {
    // The highest process id that Linux allows is 4194304, so this one cannot exist.
    await writeFile(path, JSON.stringify({ pid: 4_194_305, host: hostname() }));
    await (await acquireLock(path)).release();
  });

  test('is taken over from a holder elsewhere that has stopped touching it, and not from one that touches it', async () => {
    await writeFile(path, JSON.stringify({ pid: 1, host: 'another-machine' }));
    const waiting = acquireLock(path, { staleAfterMs: 300 });
    await sleep(150);
    const now = new Date();
    await utimes(path, now, now);
    const started = Date.now();
    await (await waiting).release();
    expect(Date.now() - started).toBeGreaterThanOrEqual(290);
  });
});
