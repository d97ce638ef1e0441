/**
 * Pipelines from a file to a store: ours as it is rendered, and what somebody who knows the collector would write by hand for one file,
 * without routing. All have two hops, node and gateway, in processes of their own.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findFreePort, type Standalone, startCollector } from '@keelson/testenv';
import type { LogSource } from '../../operators/security/src/telemetry/source.ts';
import { elsewhere } from '../../operators/security/src/telemetry/testing/collectors.ts';
import { falcoFile, osqueryFile } from '../../operators/security/src/telemetry/testing/flood.ts';
import { startNodeAndGateway } from '../../operators/security/src/telemetry/testing/node-and-gateway.ts';
import { storeWith } from '../../operators/security/src/telemetry/testing/sources.ts';

/** A pipeline that runs. */
export interface Running extends AsyncDisposable {
  /** The file that it reads. */
  readonly file: string;
  readonly parts: Readonly<Record<string, Standalone>>;
}

export interface Contender {
  readonly name: string;
  start(storeUrl: string): Promise<Running>;
}

/** Ours: for two tools, so that there is something to route, or for one; with or without the relay that keeps what the store refuses. */
function ours(name: string, deadLetters: boolean, sources: readonly LogSource[] = [falcoFile, osqueryFile]): Contender {
  return {
    name,
    start: async (url) => {
      const running = await startNodeAndGateway({ sources, store: storeWith({ url }), cluster: 'prod', deadLetters });
      const { node, gateway } = running;
      return {
        file: running.fileOf(falcoFile),
        parts: { node, gateway, ...(deadLetters ? { relay: running.relay } : {}) },
        [Symbol.asyncDispose]: () => running.stop(),
      };
    },
  };
}

/** What makes a pipeline by hand outlive its processes, or not. */
interface Keeping {
  readonly extensions: readonly string[];
  readonly storage: object;
  readonly batch: readonly string[];
  readonly queue: (sizes: object) => object;
}

/** Checkpoints and queues on disk; batches are made by the queue. */
const durable: Keeping = {
  extensions: ['file_storage'],
  storage: { storage: 'file_storage' },
  batch: [],
  queue: (sizes) => ({
    sending_queue: { storage: 'file_storage', sizer: 'bytes', queue_size: 512 << 20, batch: sizes },
  }),
};

/** As most are: a batch processor, and a queue in memory. Whatever dies loses what it holds. */
const usual: Keeping = { extensions: [], storage: {}, batch: ['batch'], queue: () => ({}) };

function byHand(name: string, { extensions, storage, batch, queue }: Keeping): Contender {
  return {
    name,
    start: async (url) => {
      const dir = await mkdtemp(join(tmpdir(), 'keelson-bench-'));
      const file = join(dir, 'falco', 'events.log');
      await mkdir(dirname(file));
      const endpoint = `127.0.0.1:${await findFreePort()}`;
      const run = async (side: string, config: object) => {
        await mkdir(join(dir, side));
        const { service, ...here } = await elsewhere(join(dir, side));
        return startCollector({ ...here, ...config }, { overrides: { service } });
      };
      const processors = { memory_limiter: limiter, ...Object.fromEntries(batch.map((id) => [id, processor])) };
      const pipelineOf = (receiver: string, exporter: string) => ({
        extensions,
        pipelines: {
          logs: { receivers: [receiver], processors: ['memory_limiter', ...batch], exporters: [exporter] },
        },
      });
      const gateway = await run('gateway', {
        receivers: { otlp: { protocols: { grpc: { endpoint, max_recv_msg_size_mib: 64 } } } },
        processors,
        exporters: {
          elasticsearch: {
            endpoints: [url],
            logs_index: 'security-events',
            mapping: { allowed_modes: ['bodymap'] },
            ...queue({ sizer: 'bytes', min_size: 1_000_000, max_size: 10_000_000, flush_timeout: '1s' }),
          },
        },
        service: pipelineOf('otlp', 'elasticsearch'),
      });
      const node = await run('node', {
        receivers: { filelog: { ...reader, ...storage, include: [file] } },
        processors,
        exporters: {
          otlp: {
            endpoint,
            tls: { insecure: true },
            ...queue({ sizer: 'bytes', min_size: 1_000_000, max_size: 16_000_000, flush_timeout: '5s' }),
          },
        },
        service: pipelineOf('filelog', 'otlp'),
      });
      return {
        file,
        parts: { node, gateway },
        [Symbol.asyncDispose]: async () => {
          await Promise.all([node.stop(), gateway.stop()]);
          await rm(dir, { recursive: true });
        },
      };
    },
  };
}

const limiter = { check_interval: '1s', limit_percentage: 75, spike_limit_percentage: 20 };
const processor = { send_batch_size: 1000, timeout: '5s' };

/** Time, severity and whose event it is: as little as makes a document that can be found. */
const reader = {
  start_at: 'beginning',
  operators: [
    { type: 'json_parser', parse_to: 'body', parse_ints: true },
    {
      type: 'time_parser',
      parse_from: 'body.time',
      layout_type: 'gotime',
      layout: '2006-01-02T15:04:05.999999999Z07:00',
    },
    { type: 'severity_parser', parse_from: 'body.priority', mapping: { info2: ['Notice'], warn: ['Warning'] } },
    { type: 'add', field: 'body["@timestamp"]', value: 'EXPR(body.time)' },
    { type: 'add', field: 'body.security_tool', value: 'falco' },
  ],
};

export const OURS = 'Keelson';
export const contenders: readonly Contender[] = [
  ours(OURS, false),
  ours('the same documents, without routing', false, [falcoFile]),
  byHand('by hand, less in a document, queues on disk', durable),
  ours(`${OURS}, dead letters kept`, true),
  byHand('by hand, less in a document, queues in memory', usual),
];
