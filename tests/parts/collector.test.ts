/** The real OpenTelemetry Collector: what our other suites rely on when they ask it about a configuration. */
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCollector, validateCollectorConfig } from '@keelson/testenv';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

const config = (receiver: object = {}, pipeline: object = {}) => ({
  receivers: { 'filelog/tool': { include: ['/var/log/tool*.log'], start_at: 'beginning', ...receiver } },
  processors: { batch: {}, memory_limiter: { check_interval: '1s', limit_mib: 64 } },
  exporters: { debug: {} },
  service: {
    pipelines: {
      logs: { receivers: ['filelog/tool'], processors: ['memory_limiter'], exporters: ['debug'], ...pipeline },
    },
  },
});

describe('asking the collector about a configuration', () => {
  test('a good one passes, as an object and as the text of a file', async () => {
    expect(await validateCollectorConfig(config())).toMatchObject({ ok: true });
    const text =
      'receivers: { otlp: { protocols: { grpc: {} } } }\nexporters: { debug: {} }\nservice: { pipelines: { logs: { receivers: [otlp], exporters: [debug] } } }\n';
    expect(await validateCollectorConfig(text)).toMatchObject({ ok: true });
  });

  test.each([
    [
      'a processor that is used but not defined',
      config({}, { processors: ['resource'] }),
      /logs.*processor "resource"/,
    ],
    ['a field that does not exist', config({ incude: [] }), /"filelog\/tool"[\s\S]*invalid keys: incude/],
    [
      'an operator that does not exist',
      config({ operators: [{ type: 'jsn_parser' }] }),
      /unsupported type 'jsn_parser'/,
    ],
    ['a component that is not part of it', { ...config(), extensions: { zpages: {} } }, /unknown type: "zpages"/],
    ['what is not YAML', '{', /yaml/],
  ])('%s is refused in words that name the place', async (_, bad, words) => {
    const { ok, output } = await validateCollectorConfig(bad);
    expect(output).toMatch(words);
    expect(ok).toBe(false);
  });

  test('variables come from the caller alone', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the collector's own syntax
    const limit = '${env:LIMIT}';
    const limited = {
      ...config(),
      processors: { memory_limiter: { check_interval: '1s', limit_mib: limit } },
    };
    vi.stubEnv('LIMIT', '64');
    expect(await validateCollectorConfig(limited)).toMatchObject({ ok: false });
    expect(await validateCollectorConfig(limited, { environment: { LIMIT: '64' } })).toMatchObject({ ok: true });
    vi.unstubAllEnvs();
  });
});

describe('running the collector', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'keelson-collector-test-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  const pipe = () => ({
    ...config(
      { include: [join(dir, 'in.log')], poll_interval: '50ms', storage: 'file_storage' },
      { exporters: ['file'] },
    ),
    extensions: { file_storage: { directory: dir } },
    exporters: { file: { path: join(dir, 'out.json'), append: true, flush_interval: '100ms' } },
  });
  const read = async () => (await readFile(join(dir, 'out.json'), 'utf8')).match(/line \d/g);

  test('two at once read and write, and one goes on after kill -9 where it stopped', async () => {
    const base = pipe();
    const piped = { ...base, service: { ...base.service, extensions: ['file_storage'] } };
    await appendFile(join(dir, 'in.log'), 'line 1\n');
    await using collector = await startCollector(piped);
    await using _neighbour = await startCollector(config());
    await vi.waitFor(async () => expect(await read()).toEqual(['line 1']), 10_000);
    await collector.part.kill();
    await appendFile(join(dir, 'in.log'), 'line 2\n');
    await collector.part.start();
    await vi.waitFor(async () => expect(await read()).toEqual(['line 1', 'line 2']), 10_000);
  });

  test('one that cannot start shows the end of its log', async () => {
    await expect(startCollector(config({}, { exporters: ['nowhere'] }), { tmpdir: dir })).rejects.toThrow(
      /exporter "nowhere"/,
    );
  });
});
