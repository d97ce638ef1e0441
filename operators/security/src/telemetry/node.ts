/**
 * The collector on a node: files → disk → gateway.
 *
 * Invariant: between the checkpoint of a file and the queue on disk no event is in memory alone. Hence no `batch` processor: it holds
 * up to 5 s of events that are ticked off already, and five `kill -9` in 20 s lost 2,900 of 20,000. The queue makes the same batches
 * out of what it has on disk, and lost none.
 */
import { GATEWAY, GATEWAY_PORT } from '../names.ts';
import { type CollectorConfig, extensions, literal, memoryLimiter, telemetry } from './collector.ts';
import { identityProcessor } from './document.ts';
import { filelogReceiver, receiverId } from './receiver.ts';
import type { LogSource } from './source.ts';
import { clientTls } from './tls.ts';

/** Lines go on before their place in the file is noted; by default they lie in memory for a moment, where a crash loses them. */
export const NODE_ARGS = ['--feature-gates=stanza.synchronousLogEmitter'];

/**
 * What makes one request to the gateway: about a thousand events, or what there is after 5 s. In bytes, because a gateway takes no
 * request above its limit (gateway.ts) and what is too large is lost: so fifty lines of 2 MiB were. The most has room for any one line.
 */
const BATCH = { sizer: 'bytes', min_size: 1_000_000, max_size: 16_000_000, flush_timeout: '5s' };
/** What a node keeps on disk while no gateway answers; then the files wait. */
const QUEUE_BYTES = 256 * 1024 * 1024;

/** The configuration of the collectors on the nodes. */
export function nodeConfig(sources: readonly LogSource[], cluster: string | undefined): CollectorConfig {
  const named = cluster === undefined ? {} : { resource: clusterName(cluster) };
  return {
    extensions,
    receivers: Object.fromEntries(sources.map((source) => [receiverId(source), filelogReceiver(source)])),
    processors: { memory_limiter: memoryLimiter, ...named, transform: identityProcessor },
    exporters: { otlp: toGateway },
    service: {
      extensions: Object.keys(extensions),
      telemetry,
      pipelines: {
        logs: {
          receivers: sources.map(receiverId),
          processors: ['memory_limiter', ...Object.keys(named), 'transform'],
          exporters: ['otlp'],
        },
      },
    },
  };
}

function clusterName(cluster: string): object {
  return { attributes: [{ key: 'k8s.cluster.name', value: literal(cluster), action: 'upsert' }] };
}

const toGateway = {
  endpoint: `${GATEWAY}:${GATEWAY_PORT}`,
  tls: clientTls,
  // The gateway answers when it has the request on disk, which takes its time while the disk is busy; sent again, it would be there twice.
  timeout: '30s',
  sending_queue: {
    storage: 'file_storage',
    sizer: 'bytes',
    queue_size: QUEUE_BYTES,
    // A full queue holds up the reading of files.
    block_on_overflow: true,
    batch: BATCH,
  },
  retry_on_failure: { enabled: true, initial_interval: '1s', max_interval: '30s', max_elapsed_time: '0s' },
};
