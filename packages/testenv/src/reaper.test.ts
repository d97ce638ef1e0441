import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
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

async function startVictim(end: string): Promise<{ child: ChildProcess; started: Started }> {
  const child = fork(fileURLToPath(new URL('./testing/victim.ts', import.meta.url)), [end], {
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

describe('an environment whose process ends without stopping it', () => {
  test.each(['return', 'throw', 'exit'])('leaves nothing behind after: %s', async (end) => {
    const { child, started } = await startVictim(end);
    expect(started.pids).toHaveLength(2);
    if (child.exitCode === null) await once(child, 'exit');
    await expectNothingLeft(started);
  });

  test.each([
    ['kill -9', 'wait', 'SIGKILL', false],
    ['kill -9 while a part is paused', 'paused', 'SIGKILL', false],
    ['SIGTERM', 'wait', 'SIGTERM', false],
    ['Ctrl-C, which the terminal sends to the whole process group', 'wait', 'SIGINT', true],
  ] as const)('leaves nothing behind after: %s', async (_title, end, signal, wholeGroup) => {
    const { child, started } = await startVictim(end);
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
});
