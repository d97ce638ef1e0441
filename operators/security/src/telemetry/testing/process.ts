/** What Linux tells of a running process. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import type { Standalone } from '@keelson/testenv';

/** MiB of memory that a program holds now, and has held at most. */
export async function memoryOf({ part }: Standalone): Promise<{ readonly now: number; readonly peak: number }> {
  const status = await readFile(`/proc/${part.pid}/status`, 'utf8');
  const mib = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024);
  return { now: mib('VmRSS'), peak: mib('VmHWM') };
}

/** How far a program has read a file that it has open. */
export async function positionIn({ part }: Standalone, file: string): Promise<number> {
  const folder = `/proc/${part.pid}`;
  for (const descriptor of await readdir(`${folder}/fd`)) {
    const opened = await readlink(`${folder}/fd/${descriptor}`).catch(() => undefined);
    if (opened !== file) continue;
    const info = await readFile(`${folder}/fdinfo/${descriptor}`, 'utf8');
    return Number(/pos:\s+(\d+)/.exec(info)?.[1]);
  }
  throw new Error(`${part.name} does not have ${file} open`);
}
