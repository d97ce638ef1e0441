/** The pod of Falco on a node: what each driver needs of it, and nothing beyond. */
import type { Container, PodSpec, SecurityContext, Volume, VolumeMount } from 'kubernetes-types/core/v1.js';
import type { FeatureContext } from '../../feature.ts';
import type { FalcoConfig } from './config.ts';
import { HEALTH_PATH, HEALTH_PORT } from './falco-yaml.ts';
import { falcoImage, loaderImage } from './images.ts';
import { CONFIG, RULES } from './names.ts';
import { EVENTS_FOLDER, paths } from './paths.ts';
import { rotation } from './rotation.ts';
import { hasRules } from './rule-files.ts';

export function falcoPod(config: FalcoConfig, context: FeatureContext): PodSpec {
  const loaded = config.driver !== 'modern_ebpf';
  const hostFolders = foldersOf(config);
  return {
    // The kernel tells Falco about the processes that were there before it only in the process namespace of the node.
    hostPID: true,
    // Falco asks the API server nothing.
    automountServiceAccountToken: false,
    ...(loaded ? { initContainers: [loader(config, context)] } : {}),
    containers: [falco(config, context, hostFolders), rotation(config.log, context)],
    volumes: [
      { name: 'config', configMap: { name: CONFIG } },
      ...(hasRules(config) ? [{ name: 'rules', configMap: { name: RULES } }] : []),
      { name: 'events', hostPath: { path: EVENTS_FOLDER, type: 'DirectoryOrCreate' } },
      { name: 'tmp', emptyDir: {} },
      ...(loaded
        ? [
            { name: 'driver', emptyDir: {} },
            { name: 'loader-config', emptyDir: {} },
          ]
        : []),
      ...[...hostFolders, ...(loaded ? loaderFolders : [])].filter(isFirst).map(volume),
    ],
  };
}

function falco(config: FalcoConfig, context: FeatureContext, folders: readonly HostFolder[]): Container {
  const { driver } = config;
  const health = { httpGet: { path: HEALTH_PATH, port: 'http' }, timeoutSeconds: 5 };
  return {
    name: 'falco',
    image: falcoImage(config, context),
    command: ['/usr/bin/falco'],
    args: ['-c', `${paths.config}/${paths.configFile}`],
    env: [
      { name: 'HOST_ROOT', value: paths.host },
      { name: 'FALCO_HOSTNAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    ],
    ports: [{ name: 'http', containerPort: HEALTH_PORT }],
    startupProbe: { ...health, periodSeconds: 5, failureThreshold: 24 },
    livenessProbe: { ...health, periodSeconds: 15 },
    readinessProbe: { ...health, periodSeconds: 15 },
    resources: { requests: { cpu: '100m', memory: '512Mi' }, limits: { cpu: '1', memory: '1Gi' } },
    securityContext: securityContext(config),
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: 'config', mountPath: paths.config, readOnly: true },
      ...(hasRules(config) ? [{ name: 'rules', mountPath: paths.rules, readOnly: true }] : []),
      { name: 'events', mountPath: EVENTS_FOLDER },
      { name: 'tmp', mountPath: '/tmp' },
      ...(driver === 'modern_ebpf' ? [] : [{ name: 'driver', mountPath: paths.driver, readOnly: true }]),
      ...folders.map(mount),
    ],
  };
}

/** By https://falco.org/docs/setup/container: four capabilities for the modern probe; a kernel module needs all. */
function securityContext({ driver, privileged }: FalcoConfig): SecurityContext {
  if (driver !== 'modern_ebpf' || privileged) return { privileged: true, readOnlyRootFilesystem: true };
  return {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'], add: ['BPF', 'PERFMON', 'SYS_PTRACE', 'SYS_RESOURCE'] },
    readOnlyRootFilesystem: true,
    // AppArmor's default profile forbids to look at other processes; the default type of SELinux forbids to load probes, to ask the
    // runtime and to write to the node.
    appArmorProfile: { type: 'Unconfined' },
    seLinuxOptions: { type: 'spc_t' },
  };
}

/** Builds or finds the driver for the kernel of the node, loads a module, and ends. */
function loader(config: FalcoConfig, context: FeatureContext): Container {
  return {
    name: 'driver-loader',
    image: loaderImage(config, context),
    args: [config.driver],
    env: [
      { name: 'HOST_ROOT', value: paths.host },
      // Which driver it is stands in falco.yaml.
      { name: 'FALCOCTL_DRIVER_CONFIG_UPDATE_FALCO', value: 'false' },
    ],
    resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { cpu: '1', memory: '1Gi' } },
    securityContext: { privileged: true },
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: 'driver', mountPath: paths.driver },
      { name: 'loader-config', mountPath: '/etc/falco/config.d' },
      ...loaderFolders.map(mount),
    ],
  };
}

/** A folder of the node: all of them read-only but where a module is installed. */
interface HostFolder {
  readonly name: string;
  readonly path: string;
  /** Where it is seen, if not below `/host`. */
  readonly at?: string;
  readonly writable?: boolean;
  readonly create?: boolean;
}

const proc: HostFolder = { name: 'proc', path: '/proc' };
const etc: HostFolder = { name: 'etc', path: '/etc' };
const sysKernel: HostFolder = { name: 'sys-kernel', path: '/sys/kernel', at: '/sys/kernel' };
const dev: HostFolder = { name: 'dev', path: '/dev' };

const loaderFolders: readonly HostFolder[] = [
  proc,
  etc,
  { name: 'boot', path: '/boot' },
  { name: 'usr', path: '/usr' },
  { name: 'lib-modules', path: '/lib/modules', writable: true },
];

function foldersOf({ driver, criSockets }: FalcoConfig): readonly HostFolder[] {
  const folders = [proc, etc, driver === 'kmod' ? dev : sysKernel];
  // Two mounts in one place are refused by the API server.
  const places = new Set(folders.map(placeOf));
  return [...folders, ...socketFolders(criSockets).filter((folder) => !places.has(placeOf(folder)))];
}

/** Folders, not sockets: a runtime that restarts makes a new socket, and a mounted one would be dead. */
function socketFolders(sockets: readonly string[]): readonly HostFolder[] {
  const folders = new Set(sockets.map((socket) => socket.slice(0, socket.lastIndexOf('/'))));
  return [...folders].map((path, index) => ({ name: `cri-${index}`, path, create: true }));
}

function isFirst({ name }: HostFolder, index: number, all: readonly HostFolder[]): boolean {
  return all.findIndex((other) => other.name === name) === index;
}

function volume({ name, path, create }: HostFolder): Volume {
  return { name, hostPath: create === true ? { path, type: 'DirectoryOrCreate' } : { path } };
}

function mount(folder: HostFolder): VolumeMount {
  return { name: folder.name, mountPath: placeOf(folder), ...(folder.writable === true ? {} : { readOnly: true }) };
}

function placeOf({ path, at }: HostFolder): string {
  return at ?? `${paths.host}${path}`;
}
