/**
 * The real OpenTelemetry Collector on a configuration of ours: does it take it, and what does it do with it.
 *
 * A configuration is an object or the very text that would stand in a ConfigMap. Each call is one process; checking takes
 * a few hundredths of a second, so a test can afford every configuration that it can think of.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensurePart } from '@keelson/testbed';
import { partEnvironment } from './part.ts';
import { type Standalone, type StandaloneOptions, startStandalone } from './standalone.ts';

/** What a collector is run with, besides its configuration. */
export interface CollectorOptions {
  /** Variables that the configuration reads as `${env:NAME}`; nothing else of this process's environment is seen. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** What the collector says about a configuration. */
export interface CollectorVerdict {
  readonly ok: boolean;
  /** Its words: errors that name the place in the configuration, and warnings even if it is good. */
  readonly output: string;
}

/** How a collector is started. */
export interface StartCollectorOptions extends CollectorOptions, StandaloneOptions {
  /**
   * Merged over the configuration, for what cannot be the same on a test machine: ports, folders. Without it the
   * collector's own metrics are off, because their port is always the same.
   */
  readonly overrides?: object;
  /** Further arguments, such as feature gates. */
  readonly args?: readonly string[];
  /** How long it may take to become ready; defaults to 60 s. */
  readonly readyWithinMs?: number;
}

const readyLine = 'Everything is ready.';

/** Asks the real collector whether it would start with a configuration; an unusable one is an answer, not an error. */
export async function validateCollectorConfig(
  config: object | string,
  { environment = {} }: CollectorOptions = {},
): Promise<CollectorVerdict> {
  const { path } = await ensurePart('otelcol');
  const dir = await mkdtemp(join(tmpdir(), 'keelson-collector-'));
  try {
    const file = join(dir, 'config.yaml');
    await writeFile(file, toText(config));
    const env = { ...partEnvironment(dir), ...environment };
    return await promisify(execFile)(path, ['validate', `--config=file:${file}`], { env, cwd: dir }).then(
      ({ stdout, stderr }) => ({ ok: true, output: `${stdout}${stderr}`.trim() }),
      (error: { code?: unknown; stdout?: string; stderr?: string }) => {
        // Exit code 1 is the collector's verdict; anything else is a collector that could not give one.
        if (error.code !== 1) throw error;
        return { ok: false, output: `${error.stdout ?? ''}${error.stderr ?? ''}`.trim() };
      },
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Runs the real collector until it is stopped; it is ready when it says so in its log, at level info or below. */
export async function startCollector(
  config: object | string,
  options: StartCollectorOptions = {},
): Promise<Standalone> {
  const { path } = await ensurePart('otelcol');
  const {
    overrides = { service: { telemetry: { metrics: { level: 'none' } } } },
    args = [],
    readyWithinMs = 60_000,
  } = options;
  return startStandalone(async (dir) => {
    const [base, over] = [join(dir, 'config.yaml'), join(dir, 'overrides.yaml')];
    await Promise.all([writeFile(base, toText(config)), writeFile(over, JSON.stringify(overrides))]);
    const starts = async () => {
      const log = await readFile(join(dir, 'log', 'otelcol.log'), 'utf8').catch(() => '');
      return log.split(readyLine).length - 1;
    };
    let before = 0;
    return {
      name: 'otelcol',
      command: [path, `--config=file:${base}`, `--config=file:${over}`, ...args],
      environment: options.environment ?? {},
      // The log goes on over restarts, and so does the count of what it tells.
      prepare: async () => {
        before = await starts();
      },
      isReady: async () => (await starts()) > before,
      readyWithinMs,
    };
  }, options);
}

function toText(config: object | string): string {
  return typeof config === 'string' ? config : JSON.stringify(config);
}
