/**
 * Events in the formats of three tools, as many as one likes, each with a number of its own, and the files that they go into: written
 * and rotated as the tools do it. Nothing writes while a file is rotated: what a writer loses there is not the pipeline's to find.
 */
import { appendFile, copyFile, mkdir, readdir, rename, truncate } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { falco } from '../../features/falco/feature.ts';
import { osquery } from '../../features/osquery/feature.ts';
import { tetragon } from '../../features/tetragon/feature.ts';
import type { LogSource } from '../source.ts';
import type { Document } from './bulk-store.ts';

export const falcoFile = falco.telemetry?.({} as never) as LogSource;
export const tetragonFile = tetragon.telemetry?.({} as never) as LogSource;
export const osqueryFile = osquery.telemetry?.({} as never) as LogSource;

/** What a tool writes of its event number so. */
const lines: Readonly<Record<string, (number: number, at: Date) => object>> = {
  falco: (number, at) => ({
    hostname: 'node-1',
    output: `${at.toISOString().slice(11, 23)}: Notice Shell executed in a container | user=root process=sh command=sh -c id`,
    output_fields: {
      'container.id': '3f1c2a9be4d0',
      'container.name': 'web',
      'evt.num': number,
      'evt.time': at.getTime() * 1_000_000,
      'k8s.ns.name': 'shop',
      'k8s.pod.name': 'web-7c9d6f5b8-x2x4q',
      'proc.cmdline': 'sh -c id',
      'proc.exepath': '/usr/bin/dash',
      'user.name': 'root',
    },
    priority: 'Notice',
    rule: 'Shell Executed in Container',
    source: 'syscall',
    tags: ['T1059.004', 'container', 'mitre_execution', 'process'],
    time: at.toISOString(),
  }),
  tetragon: (number, at) => ({
    process_exec: {
      process: {
        exec_id: Buffer.from(`node-1:${number}`).toString('base64'),
        pid: number,
        uid: 0,
        cwd: '/',
        binary: '/usr/bin/cat',
        arguments: '/etc/shadow',
        flags: 'execve rootcwd clone',
        start_time: at.toISOString(),
        auid: 4_294_967_295,
        pod: {
          namespace: 'shop',
          name: 'web-7c9d6f5b8-x2x4q',
          container: { id: 'containerd://3f1c2a9be4d0', name: 'web', pid: 52 },
          workload: 'web',
          workload_kind: 'Deployment',
        },
        tid: number,
      },
    },
    node_name: 'node-1',
    time: at.toISOString(),
  }),
  osquery: (number, at) => ({
    name: 'pack_inventory_processes',
    hostIdentifier: 'node-1',
    calendarTime: at.toUTCString(),
    unixTime: Math.floor(at.getTime() / 1000),
    epoch: 0,
    counter: 7,
    numerics: false,
    columns: { pid: String(number), name: 'nginx', path: '/usr/sbin/nginx', on_disk: '1' },
    action: 'added',
  }),
};

/** The line that a tool writes of its event number so. */
export function lineOf({ tool }: LogSource, number: number): string {
  return JSON.stringify(lines[tool]?.(number, new Date()));
}

/** `tool/number` of the event in a document; a text with `?` where there is none. */
export function nameOf({ falco, tetragon, osquery }: Document): string {
  const at = (value: unknown, ...path: readonly string[]): unknown =>
    path.reduce((found, key) => (found as Document | undefined)?.[key], value);
  if (falco !== undefined) return `falco/${at(falco, 'output_fields', 'evt.num') ?? '?'}`;
  if (tetragon !== undefined) return `tetragon/${at(tetragon, 'process_exec', 'process', 'pid') ?? '?'}`;
  return `osquery/${at(osquery, 'columns', 'pid') ?? '?'}`;
}

/** A tool that writes into a file of this machine. */
export class Writer {
  readonly source: LogSource;
  readonly file: string;
  /** Numbers of events so far. */
  written = 0;
  rotated = 0;
  #busy: Promise<unknown> = Promise.resolve();

  constructor(source: LogSource, file: string) {
    this.source = source;
    this.file = file;
  }

  /** Writes so many events more. */
  write(count: number): Promise<void> {
    return this.#inTurn(() => {
      const text = Array.from({ length: count }, (_, i) => `${lineOf(this.source, this.written + i)}\n`).join('');
      this.written += count;
      return appendFile(this.file, text);
    });
  }

  /** Gives the file another name, as Falco (`events.log.1`, older ones move on) and Tetragon (`events-<time>.log`) do. */
  rename(): Promise<void> {
    return this.#inTurn(async () => {
      await rename(this.file, this.source.rotated === undefined ? await this.#freeFirst() : this.#dated());
      this.rotated += 1;
    });
  }

  /** Copies the file and empties it, as logrotate does with `copytruncate`. */
  copyAndTruncate(): Promise<void> {
    return this.#inTurn(async () => {
      await copyFile(this.file, await this.#freeFirst());
      await truncate(this.file);
      this.rotated += 1;
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#busy.then(async () => {
      await mkdir(dirname(this.file), { recursive: true });
      await work();
    });
    this.#busy = done.catch(() => undefined);
    return done;
  }

  async #freeFirst(): Promise<string> {
    const prefix = `${basename(this.file)}.`;
    const names = await readdir(dirname(this.file));
    const numbers = names.filter((name) => name.startsWith(prefix)).map((name) => Number(name.slice(prefix.length)));
    for (const number of numbers.sort((a, b) => b - a))
      await rename(`${this.file}.${number}`, `${this.file}.${number + 1}`);
    return `${this.file}.1`;
  }

  #dated(): string {
    const time = new Date().toISOString().replaceAll(':', '-').replace('Z', '');
    return join(dirname(this.file), `${basename(this.file, '.log')}-${time}.log`);
  }
}
