/**
 * What the configurations of both collectors have in common: their form, what they run beside the pipelines, and where they find
 * things in their pods. The feature that runs them (features/otel-pipeline) mounts and sets exactly what is named here.
 *
 * Invariant: a configuration is made of objects only, and every text in it that a user wrote passed `literal`.
 */

/** Components by id (`filelog/falco`), each with its settings. */
export type Components = Readonly<Record<string, object>>;

export interface Pipeline {
  readonly receivers: readonly string[];
  readonly processors?: readonly string[];
  readonly exporters: readonly string[];
}

/** The configuration of an OpenTelemetry Collector. */
export interface CollectorConfig {
  readonly extensions: Components;
  readonly receivers: Components;
  readonly processors: Components;
  readonly connectors?: Components;
  readonly exporters: Components;
  readonly service: {
    readonly extensions: readonly string[];
    readonly telemetry: object;
    readonly pipelines: Readonly<Record<string, Pipeline>>;
  };
}

/** Where the ConfigMap is mounted in the pods of both. */
export const CONFIG_DIRECTORY = '/etc/otelcol';
/** What a collector must not forget: queues, and on nodes how far each file was read. */
export const STORAGE_DIRECTORY = '/var/lib/otelcol';
/** Answers the probes of the kubelet. */
export const HEALTH_PORT = 13133;
/** The collector's own figures, for Prometheus. */
export const METRICS_PORT = 8888;

/** The extensions of both. */
export const extensions = {
  // No host: both families of addresses, whichever the cluster has.
  health_check: { endpoint: `:${HEALTH_PORT}` },
  file_storage: {
    directory: STORAGE_DIRECTORY,
    create_directory: true,
    // A file that a crash of the node left broken is put aside: better to read some events twice than never to start again.
    recreate: true,
    // A queue that was long once gives its space back when it is short again, and not at each start: that takes a second for 20 MB, and
    // what a file has of free space inside lets the queue go on while the disk is full.
    compaction: { directory: STORAGE_DIRECTORY, on_rebound: true, cleanup_on_start: true },
  },
} as const satisfies Components;

/** First in every pipeline: refuses rather than dies. In shares of the limit of the container, so that an override of it is followed. */
export const memoryLimiter = { check_interval: '1s', limit_percentage: 75, spike_limit_percentage: 20 };

/** What a collector tells about itself. */
export const telemetry = {
  logs: { encoding: 'json' },
  // Only in detail it counts what gateways and store answer, which tells why events wait (health/reading.ts).
  metrics: { level: 'detailed', readers: [{ pull: { exporter: { prometheus: { host: '', port: METRICS_PORT } } } }] },
};

/** A text that the collector must take as it is: it would expand `${env:…}` in it. */
export function literal(text: string): string {
  return text.replaceAll('$', '$$$$');
}
