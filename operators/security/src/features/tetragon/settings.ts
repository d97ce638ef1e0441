/** Tetragon's own configuration: a ConfigMap whose keys are its flags. https://tetragon.io/docs/reference/daemon-configuration */
import { LOG_ROOT } from '../../telemetry/source.ts';
import type { TetragonConfig } from './config.ts';

/** The folder of events, on the node and in the pod. */
export const EVENTS_FOLDER = `${LOG_ROOT}/tetragon`;
export const EVENTS_FILE = `${EVENTS_FOLDER}/events.log`;
/** Tetragon puts the time before the ending: events-2026-01-31T12-00-00.000.log. */
export const ROTATED_FILES = `${EVENTS_FOLDER}/events-*.log`;

export const HEALTH_PORT = 6789;
export const METRICS_PORT = 2112;
/** Where the pod sees the processes of the node. */
export const PROC = '/procRoot';
/** Where Tetragon keeps what is its own, and its socket. */
export const RUN = '/var/run/tetragon';

/** The flags by name. */
export function settings(config: TetragonConfig, cluster: string | undefined): Record<string, string> {
  const { events, ignoreNamespaces, redact, log } = config;
  return {
    'cluster-name': cluster ?? '',
    procfs: PROC,
    'enable-k8s-api': 'true',
    'enable-tracing-policy-crd': 'true',
    // Without it a policy cannot be held to pods.
    'enable-policy-filter': 'true',
    'enable-process-cred': 'true',
    'enable-process-ns': 'true',
    'export-filename': EVENTS_FILE,
    // The collector is root, and nobody else has to know what processes were told.
    'export-file-perm': '600',
    'export-file-max-size-mb': String(log.maxSizeMB),
    'export-file-max-backups': String(log.maxFiles),
    'export-file-compress': 'false',
    'export-allowlist': lines({ event_set: events }),
    'export-denylist': lines(
      // Probes of the kubelet, every few seconds.
      { health_check: true },
      // The daily work of the node itself; what a policy finds there is written.
      { event_set: ['PROCESS_EXEC', 'PROCESS_EXIT'], namespace: [''] },
      ...(ignoreNamespaces.length === 0 ? [] : [{ namespace: ignoreNamespaces }]),
    ),
    'redaction-filters': redact.length === 0 ? '' : lines({ redact }),
    'health-server-address': `:${HEALTH_PORT}`,
    'health-server-interval': '10',
    'metrics-server': `:${METRICS_PORT}`,
    // A series for every pod and program would be too many.
    'metrics-label-filter': 'namespace,workload',
    // For `tetra` inside the pod; whoever reaches it can change policies, so it is reached from nowhere else.
    'server-address': `unix://${RUN}/tetragon.sock`,
  };
}

/** Filters are JSON, one a line. */
function lines(...filters: readonly object[]): string {
  return filters.map((filter) => JSON.stringify(filter)).join('\n');
}
