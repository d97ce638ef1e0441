import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { Reaper } from './reaper.ts';
import { isAlive } from './testing/process.ts';

interface Started {
  dir: string;
  pids: number[];
}

async function startVictim(
  what: 'environment' | 'sleepers',
  end: string,
): Promise<{ child: ChildProcess; started: Started }> {
  const child = fork(fileURLToPath(new URL('./testing/victim.ts', import.meta.url)), [what, end], {
    execArgv: ['--conditions=keelson-source'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    detached: true,
  });
  const [started] = (await once(child, 'message')) as [Started];
  return { child, started };
}

const expectNothingLeft = ({ dir, pids }: Started) =>
  vi.waitFor(() => {
    expect(pids.filter(isAlive)).toEqual([]);
    expect(existsSync(dir)).toBe(false);
  }, 10_000);

describe('a process that ends without stopping what it started', () => {
  test('a whole environment, with a frozen API server, is gone after kill -9', async () => {
    const { child, started } = await startVictim('environment', 'wait');
    expect(started.pids.filter(isAlive)).toEqual(started.pids);
    expect(existsSync(started.dir)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await expectNothingLeft(started);
  });

  test.each([
    ['return', 0],
    ['throw', 1],
    ['exit', 3],
  ])('leaves nothing behind after: %s', async (end, code) => {
    const { child, started } = await startVictim('sleepers', end);
    expect(started.pids).toHaveLength(2);
    if (child.exitCode === null) await once(child, 'exit');
    expect(child.exitCode).toBe(code);
    await expectNothingLeft(started);
  });

  test.each([
    ['SIGKILL', 'SIGKILL', false],
    ['SIGTERM', 'SIGTERM', false],
    ['Ctrl-C, which the terminal sends to the whole process group', 'SIGINT', true],
    ['a terminal that is closed', 'SIGHUP', true],
  ] as const)('leaves nothing behind after: %s', async (_title, signal, wholeGroup) => {
    const { child, started } = await startVictim('sleepers', 'wait');
    expect(started.pids.filter(isAlive)).toEqual(started.pids);
    process.kill(wholeGroup ? -(child.pid ?? 0) : (child.pid ?? 0), signal);
    await once(child, 'exit');
    await expectNothingLeft(started);
  });
});

describe('the reaper', () => {
  test('kills what was spawned, removes its folder, and refuses late-comers', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'keelson-reaper-'));
    const reaper = await Reaper.over(dir);
    const sleeper = reaper.spawn(['sleep', '1000'], { stdio: 'ignore' });
    await vi.waitFor(() => expect(existsSync(join(dir, 'run', String(sleeper.pid)))).toBe(true));
    await reaper.end();
    expect(isAlive(sleeper.pid ?? 0)).toBe(false);
    expect(existsSync(dir)).toBe(false);
    const late = reaper.spawn(['sleep', '1000'], { stdio: 'ignore' });
    const [code] = await once(late, 'exit');
    expect(code).not.toBe(0);
  });

  test('keeps the logs, and nothing else, when told so', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'keelson-reaper-'));
    const reaper = await Reaper.over(dir);
    await mkdir(join(dir, 'log'));
    await Promise.all(['log/a.log', 'secret', '.hidden'].map((file) => writeFile(join(dir, file), 'x')));
    await reaper.end({ keepLogs: true });
    expect(await readdir(dir, { recursive: true })).toEqual(['log', 'log/a.log']);
    await rm(dir, { recursive: true });
  });
});
