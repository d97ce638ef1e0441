/**
 * The pods of osquery. An inventory must be that of the node and not that of the container, whatever table is asked, the user's own
 * queries included. So osqueryd runs with the root of the node as its root: it is copied into a folder of its own below its log
 * directory (a volume that goes with the pod) and started there by chroot.
 *
 * The other ways fall short. Host paths mounted over those of the container: a link such as /etc/os-release leads back into the
 * container, and paths that a node lacks are made on it. The column pid_with_namespace: 19 tables know it, each query must name
 * it, and it takes CAP_SYS_ADMIN. The price of this one: nodes need the C library of GNU (so not Alpine or Talos).
 */
import type { DaemonSet } from '@keelson/schema';
import type { VolumeMount } from 'kubernetes-types/core/v1.js';
import { LOG_ROOT } from '../../telemetry/source.ts';
import { nodeAgent } from '../../workload/node-agent.ts';

/** ConfigMap with osquery.conf. */
export const CONFIG = 'osquery-config';
export const CONFIG_FILE = 'osquery.conf';
/** As the node knows it. */
export const LOGS = `${LOG_ROOT}/osquery`;

/** Where the root of the node is in the container. */
const HOST = '/host';
/** Program, database and pid file; as the node would know it, if it saw it. */
const RUN = `${LOGS}/.run`;
const PROGRAM = `${RUN}/bin/osqueryd`;
const PIDFILE = `${RUN}/osqueryd.pid`;

/** MB of one process; less than the limit of the container, so that a greedy query is stopped and the others go on. */
const WORKER_MEMORY = 300;

/**
 * At each rotation osquery compresses what it rotated before, and the collector cannot read that: so one rotated file is kept, and both
 * are large. Twice this is what a node holds while the pipeline stands still.
 */
const ROTATE_BYTES = 50 * 1024 * 1024;

const flags = {
  config_plugin: 'filesystem',
  config_path: `${RUN}/etc/${CONFIG_FILE}`,
  database_path: `${RUN}/osquery.db`,
  pidfile: PIDFILE,
  logger_plugin: 'filesystem',
  logger_path: LOGS,
  logger_rotate: true,
  logger_rotate_size: ROTATE_BYTES,
  logger_rotate_max_files: 1,
  // Warnings and errors about osquery itself; they go to standard error as well.
  logger_min_status: 1,
  host_identifier: 'specified',
  // Kubernetes puts the name of the node in its place.
  specified_identifier: '$(NODE_NAME)',
  schedule_splay_percent: 10,
  // Inventory only: what happens is the business of Falco and Tetragon, and nothing from outside may add queries.
  disable_events: true,
  disable_audit: true,
  disable_distributed: true,
  disable_extensions: true,
  disable_carver: true,
  watchdog_level: 0,
  watchdog_memory_limit: WORKER_MEMORY,
  // In percent of all cores. The limit of the container slows a query down; the default of 10 would end it.
  watchdog_utilization_limit: 60,
};

/**
 * Old reports about osquery itself are removed: nobody rotates them. The program has a folder of its own, because osqueryd refuses to
 * start a worker out of one that everybody may write to. Arguments are passed on, so that overrides can add some.
 */
const start = [
  `rm -f ${HOST}${LOGS}/osqueryd.INFO* ${HOST}${LOGS}/osqueryd.WARNING* ${HOST}${LOGS}/osqueryd.ERROR*`,
  `install -D -m 0755 /opt/osquery/bin/osqueryd ${HOST}${PROGRAM}`,
  `exec chroot ${HOST} ${PROGRAM} "$@"`,
].join(' && ');

/** Ready when the watchdog has a worker; should that stop, the watchdog starts another. */
const hasWorker = `read -r pid < ${HOST}${PIDFILE}; read -r worker rest < /proc/$pid/task/$pid/children; test -n "$worker"`;

const mounts: VolumeMount[] = [
  // HostToContainer: what is unmounted on the node must not stay mounted here.
  { name: 'host', mountPath: HOST, readOnly: true, mountPropagation: 'HostToContainer' },
  { name: 'logs', mountPath: `${HOST}${LOGS}` },
  { name: 'run', mountPath: `${HOST}${RUN}` },
  { name: 'config', mountPath: `${HOST}${RUN}/etc`, readOnly: true },
];

/** The DaemonSet. */
export function daemon(image: string): DaemonSet {
  return nodeAgent('osquery', {
    hostPID: true,
    hostNetwork: true,
    dnsPolicy: 'Default',
    terminationGracePeriodSeconds: 30,
    containers: [
      {
        name: 'osquery',
        image,
        command: ['/bin/sh', '-c', start, 'osqueryd'],
        args: Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
        env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
        resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { cpu: '500m', memory: '512Mi' } },
        securityContext: {
          // Capabilities reach only root: Kubernetes cannot give them to another user.
          runAsUser: 0,
          runAsGroup: 0,
          privileged: false,
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'], add: ['DAC_READ_SEARCH', 'SETGID', 'SETUID', 'SYS_CHROOT', 'SYS_PTRACE'] },
          seccompProfile: { type: 'RuntimeDefault' },
          // The default profile hides processes of the node, and so does the default type of SELinux with its files.
          appArmorProfile: { type: 'Unconfined' },
          seLinuxOptions: { type: 'spc_t' },
        },
        readinessProbe: {
          exec: { command: ['/bin/sh', '-c', hasWorker] },
          initialDelaySeconds: 5,
          periodSeconds: 30,
          timeoutSeconds: 5,
        },
        volumeMounts: mounts,
      },
    ],
    volumes: [
      { name: 'host', hostPath: { path: '/', type: 'Directory' } },
      { name: 'logs', hostPath: { path: LOGS, type: 'DirectoryOrCreate' } },
      { name: 'run', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'config', configMap: { name: CONFIG } },
    ],
  });
}
