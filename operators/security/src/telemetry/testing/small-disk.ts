/** A disk of its own size for the queue of a collector, so that a test can fill it. */
import { execFile } from 'node:child_process';
import { mkdir, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface SmallDisk extends AsyncDisposable {
  readonly dir: string;
  /** Leaves so many bytes free, by a file that takes up the rest. */
  fill(bytesLeft: number): Promise<void>;
  /** Removes that file. */
  relieve(): Promise<void>;
}

export async function mountSmallDisk(dir: string, bytes: number): Promise<SmallDisk> {
  const run = promisify(execFile);
  await mkdir(dir, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', dir]).catch((cause) => {
    const remedy =
      'run the tests as root, or as root of a namespace: unshare --user --map-root-user --mount make test-parts';
    throw new Error(`cannot mount a disk to fill at ${dir}; ${remedy}`, { cause });
  });
  const filler = join(dir, 'filler');
  return {
    dir,
    fill: async (bytesLeft) => {
      await using file = await open(filler, 'w');
      const chunk = Buffer.alloc(1024 * 1024);
      for (let left = Number.POSITIVE_INFINITY; left > 0; ) {
        const { bavail, bsize } = await statfs(dir);
        left = bavail * bsize - bytesLeft;
        // Others write here too: then there is less left than asked for, which is as good.
        const { bytesWritten } = await file
          .write(chunk, 0, clamp(left, chunk.length))
          .catch(() => ({ bytesWritten: 0 }));
        if (bytesWritten === 0) return;
      }
    },
    relieve: () => rm(filler, { force: true }),
    [Symbol.asyncDispose]: async () => {
      // Lazily: a process that a failed test has left behind must not keep the folder.
      await run('umount', ['--lazy', dir]);
      await rm(dir, { recursive: true });
    },
  };
}

function clamp(value: number, most: number): number {
  return Math.max(0, Math.min(value, most));
}
