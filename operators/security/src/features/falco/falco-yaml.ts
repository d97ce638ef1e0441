/** Falco's own configuration, as an object. What is left out has Falco's default. */
import type { FalcoConfig } from './config.ts';
import { EVENTS_FILE, paths } from './paths.ts';
import { hasRules } from './rule-files.ts';

/** How Falco says that it is well, and its metrics. */
export const HEALTH_PORT = 8765;
export const HEALTH_PATH = '/healthz';

/** The content of falco.yaml. */
export function falcoYaml(config: FalcoConfig): object {
  const { driver, priority, criSockets } = config;
  return {
    // Nothing that an image brings along changes what is written here.
    config_files: [],
    // Another configuration comes as another pod: its checksum is on the template.
    watch_config_files: false,
    rules_files: [
      paths.shippedRules,
      `${paths.config}/${paths.techniqueRules}`,
      ...(hasRules(config) ? [paths.rules] : []),
    ],
    // One event may be several things: the first rule must not hide the others.
    rule_matching: 'all',
    priority,
    engine: { kind: driver, [driver]: engine(driver) },
    load_plugins: ['container'],
    plugins: [
      {
        name: 'container',
        library_path: 'libcontainer.so',
        init_config: {
          label_max_len: 100,
          with_size: false,
          engines: { ...noEngines, cri: { enabled: true, sockets: [...criSockets] } },
        },
      },
    ],
    json_output: true,
    json_include_output_property: true,
    json_include_message_property: false,
    json_include_output_fields_property: true,
    json_include_tags_property: true,
    time_format_iso_8601: true,
    append_output: [{ match: { source: 'syscall' }, suggested_output: true, extra_fields: podFields }],
    buffered_outputs: false,
    // Opened for every event: whoever rotates it need not tell Falco.
    file_output: { enabled: true, keep_alive: false, filename: EVENTS_FILE },
    stdout_output: { enabled: false },
    syslog_output: { enabled: false },
    log_stderr: true,
    log_syslog: false,
    log_level: 'info',
    syscall_event_drops: {
      threshold: 0.1,
      actions: ['log', 'alert'],
      rate: 0.03333,
      max_burst: 1,
      simulate_drops: false,
    },
    webserver: {
      enabled: true,
      listen_port: HEALTH_PORT,
      k8s_healthz_endpoint: HEALTH_PATH,
      ssl_enabled: false,
      prometheus_metrics_enabled: true,
    },
    metrics: {
      enabled: true,
      interval: '15m',
      output_rule: false,
      rules_counters_enabled: true,
      resource_utilization_enabled: true,
      state_counters_enabled: true,
      kernel_event_counters_enabled: true,
      libbpf_stats_enabled: driver !== 'kmod',
      convert_memory_to_mb: true,
      include_empty_values: false,
    },
  };
}

/** Which pod it was: the pipeline and its readers count on these. */
const podFields = [
  'container.id',
  'container.name',
  'container.image.repository',
  'container.image.tag',
  'k8s.ns.name',
  'k8s.pod.name',
];

/** Kubernetes speaks to its runtime by CRI only; the others would look for sockets that are not mounted. */
const noEngines = Object.fromEntries(
  ['docker', 'podman', 'containerd', 'lxc', 'libvirt_lxc', 'bpm'].map((name) => [name, { enabled: false }]),
);

function engine(driver: FalcoConfig['driver']): object {
  // Calls that fail are kept: attempts are what we are after.
  const buffers = { buf_size_preset: 4, drop_failed_exit: false };
  if (driver === 'modern_ebpf') return { cpus_for_each_buffer: 2, ...buffers };
  return driver === 'ebpf' ? { probe: `${paths.driver}/falco-bpf.o`, ...buffers } : buffers;
}
