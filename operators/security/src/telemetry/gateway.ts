/**
 * The gateway: nodes → documents → the index that the tool declares → store.
 *
 * Invariant: a request of a node is answered after it is on disk, or refused, which makes the node keep it.
 */
import { GATEWAY_PORT } from '../names.ts';
import type { Output } from '../resource.ts';
import { type CollectorConfig, extensions, memoryLimiter, type Pipeline, telemetry } from './collector.ts';
import { documentProcessor } from './document.ts';
import { elasticsearchExporter, exporterId, loginExtensions } from './exporter.ts';
import type { EventIndex, LogSource } from './source.ts';

const DEFAULT_INDEX: EventIndex = 'events';

/** The configuration of the gateway. */
export function gatewayConfig(sources: readonly LogSource[], output: Output): CollectorConfig {
  const indices = indicesOf(sources);
  const all = { ...extensions, ...loginExtensions(output) };
  return {
    extensions: all,
    receivers: { otlp: { protocols: { grpc: receiver } } },
    processors: { memory_limiter: memoryLimiter, transform: documentProcessor },
    connectors: { routing: routing(sources) },
    exporters: Object.fromEntries(indices.map((index) => [exporterId(index), elasticsearchExporter(index, output)])),
    service: {
      extensions: Object.keys(all),
      telemetry,
      pipelines: {
        logs: { receivers: ['otlp'], processors: ['memory_limiter', 'transform'], exporters: ['routing'] },
        ...Object.fromEntries(indices.map((index): [string, Pipeline] => [pipelineId(index), toStore(index)])),
      },
    },
  };
}

const receiver = {
  endpoint: `:${GATEWAY_PORT}`,
  // A request of a node has up to 1000 events: the 4 MiB that gRPC takes by default are soon full, and what is refused for its size is lost.
  max_recv_msg_size_mib: 64,
  // A connection lasts for days; ended now and then, nodes find gateways that were added.
  keepalive: { server_parameters: { max_connection_age: '10m', max_connection_age_grace: '1m' } },
};

/** By what the tools declare; what is nobody's goes to the default. Every tool has its entry: the collector refuses an empty table. */
function routing(sources: readonly LogSource[]): object {
  return {
    default_pipelines: [pipelineId(DEFAULT_INDEX)],
    error_mode: 'ignore',
    table: sources.map(({ tool, index }) => ({
      condition: `resource.attributes["security_tool"] == "${tool}"`,
      pipelines: [pipelineId(index)],
    })),
  };
}

function toStore(index: EventIndex): Pipeline {
  return { receivers: ['routing'], exporters: [exporterId(index)] };
}

function pipelineId(index: EventIndex): string {
  return `logs/${index}`;
}

/** Those in use, the default first. */
function indicesOf(sources: readonly LogSource[]): readonly EventIndex[] {
  return [...new Set([DEFAULT_INDEX, ...sources.map(({ index }) => index)])];
}
