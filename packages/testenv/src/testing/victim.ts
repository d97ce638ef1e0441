/** A process that starts something under a reaper, tells its parent what, and meets the end that its argument names. */
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestEnv } from '../index.ts';
import { Reaper } from '../reaper.ts';

const [what, end] = process.argv.slice(2);
process.send?.(what === 'environment' ? await startEnvironment() : await startSleepers());

switch (end) {
  case 'return':
    process.disconnect?.();
    break;
  case 'throw':
    throw new Error('uncaught, on purpose');
  case 'exit':
    process.exit(3);
    break;
  default:
    setInterval(() => {}, 1000);
}

async function startEnvironment() {
  const { dir, parts } = await startTestEnv();
  // A stopped process does not see most signals: the reaper must get it all the same.
  parts.apiserver.pause();
  return { dir, pids: [parts.etcd.pid, parts.apiserver.pid] };
}

async function startSleepers() {
  const reaper = await Reaper.over(await mkdtemp(join(tmpdir(), 'keelson-reaper-')));
  const sleepers = [1, 2].map(() =>
    reaper.spawn(['sh', '-c', 'echo ready; exec sleep 1000'], { stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  await Promise.all(sleepers.map(({ stdout }) => stdout && once(stdout, 'data')));
  for (const { stdout } of sleepers) stdout?.destroy();
  return { dir: reaper.dir, pids: sleepers.map(({ pid }) => pid) };
}
