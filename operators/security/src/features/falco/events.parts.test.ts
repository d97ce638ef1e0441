/** Events as Falco writes them, rotated as we rotate them, read by the real collector as the pipeline has it read. */
import { spawn } from 'node:child_process';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Standalone, startCollector } from '@keelson/testenv';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { filelogReceiver, receiverId } from '../../telemetry/receiver.ts';
import type { LogSource } from '../../telemetry/source.ts';
import { falco } from './feature.ts';
import { rotationScript } from './rotation.ts';

interface Entry {
  readonly timeUnixNano: string;
  readonly severityNumber?: number;
  readonly attributes: readonly { readonly key: string; readonly value: unknown }[];
}

let dir: string;
let file: string;
let collector: Standalone;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-falco-'));
  file = join(dir, 'events.log');
  const source = { ...(falco.telemetry?.({} as never) as LogSource), path: file };
  collector = await startCollector(
    {
      receivers: { [receiverId(source)]: filelogReceiver(source) },
      extensions: { file_storage: { directory: dir } },
      exporters: { file: { path: join(dir, 'read.json'), flush_interval: '100ms' } },
      service: {
        extensions: ['file_storage'],
        pipelines: { logs: { receivers: [receiverId(source)], exporters: ['file'] } },
        telemetry: { metrics: { level: 'none' } },
      },
    },
    { environment: { K8S_NODE_NAME: 'node-1' } },
  );
});

afterEach(async () => {
  await collector?.stop();
  await rm(dir, { recursive: true });
});

/** Shaped like https://falco.org/docs/concepts/outputs/formatting. */
function line(priority: string, number = 0): string {
  return `${JSON.stringify({
    hostname: 'node-1',
    output: `10:00:00.123456789: ${priority} Shell executed in a container | command=sh -c id`,
    output_fields: { 'evt.time': 1_777_629_600_123_456_789n.toString(), 'k8s.pod.name': 'web-0', number },
    priority,
    rule: 'Shell Executed in Container',
    source: 'syscall',
    tags: ['T1059.004', 'container', 'mitre_execution', 'process'],
    time: '2026-05-01T10:00:00.123456789Z',
  })}\n`;
}

async function entries(): Promise<readonly Entry[]> {
  const text = await readFile(join(dir, 'read.json'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((one) => one.endsWith('}'))
    .flatMap((one) => {
      const { resourceLogs } = JSON.parse(one) as { resourceLogs: { scopeLogs: { logRecords: Entry[] }[] }[] };
      return resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords));
    });
}

test('each level of Falco has the number that OpenTelemetry gives to its namesake of syslog, and the time is that of the event', async () => {
  const levels = {
    Debug: 5,
    Informational: 9,
    Notice: 10,
    Warning: 13,
    Error: 17,
    Critical: 18,
    Alert: 19,
    Emergency: 21,
  };
  await appendFile(
    file,
    Object.keys(levels)
      .map((level) => line(level))
      .join(''),
  );

  const read = await vi.waitFor(
    async () => {
      const found = await entries();
      expect(found).toHaveLength(8);
      return found;
    },
    { timeout: 60_000, interval: 200 },
  );
  expect(read.map(({ severityNumber }) => severityNumber)).toEqual(Object.values(levels));
  expect(new Set(read.map(({ timeUnixNano }) => timeUnixNano))).toEqual(new Set(['1777629600123456789']));
});

test('no event is lost and none comes twice while the file is rotated under the writer and the reader', async () => {
  const env = { PATH: process.env.PATH, FILE: file, MAX_BYTES: '20000', MAX_FILES: '100', INTERVAL: '0.1' };
  const rotating = spawn('/bin/sh', ['-c', rotationScript], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    // As Falco does with keep_alive: false, the file is opened anew for every event.
    for (let number = 0; number < 1500; number++) {
      await appendFile(file, line('Notice', number));
      if (number % 50 === 0) await pause(60);
    }
    await vi.waitFor(async () => expect(await entries()).toHaveLength(1500), { timeout: 60_000, interval: 500 });
    expect(new Set((await entries()).map((entry) => JSON.stringify(entry.attributes))).size).toBe(1500);
    await expect(readFile(`${file}.3`, 'utf8')).resolves.toContain('Shell Executed');
  } finally {
    rotating.kill('SIGTERM');
  }
});
