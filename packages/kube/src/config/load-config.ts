/**
 * Finds out how to reach a cluster, in this order:
 *   1. `kubeconfig` given by the caller (a path, or several separated as in KUBECONFIG)
 *   2. the files of KUBECONFIG, merged by kubectl's rules (missing ones are skipped)
 *   3. the service account of the pod that this process runs in
 *   4. ~/.kube/config
 *
 * Invariant: what it returns has been checked (files readable, certificate and key belong together, context complete), so
 * that what can be wrong with a config is a `BadConfig` fault here, which names the file and the remedy. Called by whoever
 * creates a client: the operator process, the command line, tests.
 */
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { Fault } from '../fault.ts';
import { toClusterConfig, toClusterInfo } from './cluster.ts';
import type { KubeConfig } from './config.ts';
import type { Fields } from './fields.ts';
import { inClusterConfig, isInCluster, serviceAccountDirectory } from './in-cluster.ts';
import { type KubeconfigFile, mergeKubeconfigs, readKubeconfigFile } from './kubeconfig-file.ts';
import { checkCertificate, checkKeyPair, readMaterial } from './material.ts';
import { toUserConfig } from './user.ts';

export interface LoadConfigOptions {
  /** Path of a kubeconfig, or several separated as in KUBECONFIG. Each must exist. */
  kubeconfig?: string;
  /** Context to use instead of current-context. */
  context?: string;
  /** Environment to read KUBECONFIG, HOME, proxies and in-cluster variables from (default: the process's). */
  env?: Readonly<Record<string, string | undefined>>;
  /** Where the pod's service account is mounted. */
  serviceAccountDirectory?: string;
}

/** The config to create a client with; a `BadConfig` fault says what is wrong and what to do. */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<KubeConfig> {
  const env = options.env ?? process.env;
  const config = await findConfig(options, env);
  await checkFiles(config);
  return config;
}

async function findConfig(options: LoadConfigOptions, env: NonNullable<LoadConfigOptions['env']>): Promise<KubeConfig> {
  const named = splitPaths(options.kubeconfig);
  if (named.length > 0) {
    const files = await readAll(named);
    const missing = named.find((path) => !files.some((file) => file.file === path));
    if (missing !== undefined) throw new Fault('BadConfig', `kubeconfig ${missing} does not exist: correct the path`);
    return fromKubeconfig(files, options.context, env);
  }
  const fromEnv = splitPaths(env.KUBECONFIG);
  if (fromEnv.length > 0) {
    const files = await readAll(fromEnv);
    if (files.length > 0) return fromKubeconfig(files, options.context, env);
    throw new Fault(
      'BadConfig',
      `KUBECONFIG names ${fromEnv.join(', ')}: no such file; correct it, or unset KUBECONFIG`,
    );
  }
  if (options.context === undefined && isInCluster(env)) {
    return inClusterConfig(env, options.serviceAccountDirectory ?? serviceAccountDirectory);
  }
  const standard = join(env.HOME || env.USERPROFILE || homedir(), '.kube', 'config');
  const files = await readAll([standard]);
  if (files.length > 0) return fromKubeconfig(files, options.context, env);
  const remedy = 'set KUBECONFIG to a kubeconfig file, or run inside a cluster';
  throw new Fault(
    'BadConfig',
    `no cluster to talk to: KUBECONFIG is not set and ${standard} does not exist; ${remedy}`,
  );
}

function splitPaths(paths: string | undefined): string[] {
  const split = (paths ?? '').split(delimiter).filter((path) => path !== '');
  return [...new Set(split.map((path) => resolve(path)))];
}

async function readAll(paths: readonly string[]): Promise<KubeconfigFile[]> {
  const files = await Promise.all(paths.map((path) => readKubeconfigFile(path)));
  return files.filter((file) => file !== undefined);
}

async function fromKubeconfig(
  files: readonly KubeconfigFile[],
  wanted: string | undefined,
  env: NonNullable<LoadConfigOptions['env']>,
): Promise<KubeConfig> {
  const merged = mergeKubeconfigs(files);
  const where = files.map((file) => file.file).join(', ');
  const contextName = wanted ?? merged.currentContext ?? onlyOne(merged.contexts);
  if (contextName === undefined) {
    throw new Fault('BadConfig', `kubeconfig ${where} sets no current-context: ${chooseFrom(merged.contexts)}`);
  }
  const context = pick(merged.contexts, contextName, `kubeconfig ${where} has no context "${contextName}"`);
  const clusterName = context.string('cluster') ?? '';
  const userName = context.string('user');
  const lacks = (what: string) => `kubeconfig ${where}: context "${contextName}" names the ${what}, which is not there`;
  const clusterFields = pick(merged.clusters, clusterName, lacks(`cluster "${clusterName}"`));
  const cluster = toClusterConfig(clusterName, clusterFields, env);
  const info = await toClusterInfo(clusterFields, cluster);
  const user =
    userName === undefined
      ? { authentication: { type: 'none' } as const }
      : toUserConfig(userName, pick(merged.users, userName, lacks(`user "${userName}"`)), info);
  return {
    ...cluster,
    ...user,
    namespace: context.string('namespace') ?? 'default',
    source: `context "${contextName}" of ${context.file}`,
    context: contextName,
    ...(userName === undefined ? {} : { user: userName }),
  };
}

function onlyOne(contexts: ReadonlyMap<string, Fields>): string | undefined {
  return contexts.size === 1 ? contexts.keys().next().value : undefined;
}

function pick(entries: ReadonlyMap<string, Fields>, name: string, problem: string): Fields {
  const entry = entries.get(name);
  if (entry === undefined) throw new Fault('BadConfig', `${problem}: ${chooseFrom(entries)}`);
  return entry;
}

function chooseFrom(entries: ReadonlyMap<string, Fields>): string {
  const names = [...entries.keys()].sort();
  return names.length === 0 ? 'it has none at all' : `choose one of ${names.map((name) => `"${name}"`).join(', ')}`;
}

async function checkFiles(config: KubeConfig): Promise<void> {
  if (config.tls.ca !== undefined) {
    checkCertificate(await readMaterial(config.tls.ca, 'the CA certificate'), 'the CA certificate', config.tls.ca);
  }
  if (config.clientCertificate !== undefined) {
    const { certificate, key } = config.clientCertificate;
    const parsed = checkCertificate(
      await readMaterial(certificate, 'the client certificate'),
      'the client certificate',
      certificate,
    );
    checkKeyPair(parsed, await readMaterial(key, 'the client key'), 'the client key', key);
  }
  if (config.authentication.type === 'token-file') {
    await readMaterial({ file: config.authentication.file }, 'the token file');
  }
}
