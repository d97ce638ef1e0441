/**
 * The gateway: nodes → documents → the index that the tool declares → store.
 *
 * Invariants: a request of a node is answered after it is on disk, or refused, which makes the node keep it. A tool that writes to the
 * default index leaves no trace here: when it comes or goes, the gateways go on.
 */
import { GATEWAY_PORT } from '../names.ts';
import type { Store } from '../store.ts';
import { type CollectorConfig, extensions, memoryLimiter, type Pipeline, telemetry } from './collector.ts';
import { documentProcessor } from './document.ts';
import { elasticsearchExporter, exporterId, loginExtensions } from './exporter.ts';
import type { EventIndex, LogSource } from './source.ts';
import { serverTls } from './tls.ts';

const DEFAULT_INDEX: EventIndex = 'events';

/** How long a node stays with one gateway; gRPC takes up to a tenth more. */
const CONNECTION_SECONDS = 60;
/** What a gateway goes on for when it is about to end: nodes have all left it by then, and it has had time to write what they sent. */
export const DRAIN_SECONDS = 75;

/** The configuration of the gateway. */
export function gatewayConfig(sources: readonly LogSource[], store: Store, isRelayed: boolean): CollectorConfig {
  const routed = sources.filter(({ index }) => index !== DEFAULT_INDEX);
  const indices = [...new Set([DEFAULT_INDEX, ...routed.map(({ index }) => index)])];
  const all = { ...extensions, ...loginExtensions(store) };
  return {
    extensions: all,
    receivers: { otlp: { protocols: { grpc: receiver } } },
    processors: { memory_limiter: memoryLimiter, transform: documentProcessor },
    // The collector refuses an empty table.
    ...(routed.length === 0 ? {} : { connectors: { routing: routing(routed) } }),
    exporters: Object.fromEntries(
      indices.map((index) => [exporterId(index), elasticsearchExporter(index, store, isRelayed)]),
    ),
    service: {
      extensions: Object.keys(all),
      telemetry,
      pipelines:
        routed.length === 0
          ? { [pipelineId(DEFAULT_INDEX)]: { ...arrival, exporters: [exporterId(DEFAULT_INDEX)] } }
          : {
              logs: { ...arrival, exporters: ['routing'] },
              ...Object.fromEntries(indices.map((index) => [pipelineId(index), departure(index)])),
            },
    },
  };
}

const receiver = {
  endpoint: `:${GATEWAY_PORT}`,
  // A request of a node has up to 16 MB: gRPC takes 4 MiB by default, and what is too large is lost.
  max_recv_msg_size_mib: 64,
  tls: serverTls,
  // A connection lasts for days. Ended now and then, nodes find gateways that were added, leave one that is about to go (DRAIN_SECONDS),
  // and show a certificate that is still valid.
  keepalive: {
    server_parameters: { max_connection_age: `${CONNECTION_SECONDS}s`, max_connection_age_grace: '1m' },
  },
};

const arrival = { receivers: ['otlp'], processors: ['memory_limiter', 'transform'] };

function departure(index: EventIndex): Pipeline {
  return { receivers: ['routing'], exporters: [exporterId(index)] };
}

/** By what the tools declare; what is nobody's goes to the default. */
function routing(routed: readonly LogSource[]): object {
  return {
    default_pipelines: [pipelineId(DEFAULT_INDEX)],
    error_mode: 'ignore',
    table: routed.map(({ tool, index }) => ({
      condition: `resource.attributes["security_tool"] == "${tool}"`,
      pipelines: [pipelineId(index)],
    })),
  };
}

function pipelineId(index: EventIndex): string {
  return `logs/${index}`;
}
