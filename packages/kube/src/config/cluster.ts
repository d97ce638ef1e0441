/** Turns the `cluster` of a kubeconfig into a server, its TLS settings and its proxy. */
import { Fault } from '../fault.ts';
import type { KubeConfig } from './config.ts';
import type { Fields } from './fields.ts';
import { materialOf, readMaterial } from './material.ts';
import { proxyFromEnv, proxyUrl } from './proxy.ts';
import { Secret } from './secret.ts';

export type ClusterConfig = Pick<KubeConfig, 'server' | 'tls' | 'proxy' | 'disableCompression'>;

const execExtension = 'client.authentication.k8s.io/exec';

/** What a cluster entry says; the environment's proxy is used only where the entry names none. */
export function toClusterConfig(
  name: string,
  cluster: Fields,
  env: Readonly<Record<string, string | undefined>>,
): ClusterConfig {
  const bad = (problem: string) => new Fault('BadConfig', `kubeconfig ${cluster.file}: cluster "${name}": ${problem}`);
  const server = cluster.string('server');
  if (server === undefined) throw bad('server is missing: write the URL of the API server, https://host:6443');
  if (!URL.canParse(server)) throw bad(`server "${server}" is no URL: write https://host:6443`);
  const url = new URL(server);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw bad(`server "${server}" must begin with https://`);
  const ca = materialOf(cluster, 'certificate-authority');
  const insecure = cluster.boolean('insecure-skip-tls-verify');
  if (insecure && ca !== undefined) {
    throw bad('certificate-authority and insecure-skip-tls-verify exclude each other: remove one');
  }
  const serverName = cluster.string('tls-server-name');
  const ownProxy = cluster.string('proxy-url');
  const proxy = ownProxy === undefined ? proxyFromEnv(url, env) : proxyUrl(ownProxy, `cluster "${name}" (proxy-url)`);
  return {
    server: server.replace(/\/+$/, ''),
    tls: { insecure, ...(ca === undefined ? {} : { ca }), ...(serverName === undefined ? {} : { serverName }) },
    disableCompression: cluster.boolean('disable-compression'),
    ...(proxy === undefined ? {} : { proxy: new Secret(proxy) }),
  };
}

/** What an exec plugin with `provideClusterInfo` learns: the cluster entry, and the extension that is kept there for plugins. */
export async function toClusterInfo(cluster: Fields, config: ClusterConfig): Promise<Record<string, unknown>> {
  const extension = cluster.list('extensions').find((entry) => entry.string('name') === execExtension);
  const ca = config.tls.ca === undefined ? undefined : await readMaterial(config.tls.ca, 'the CA certificate');
  return {
    server: config.server,
    ...(config.tls.serverName === undefined ? {} : { 'tls-server-name': config.tls.serverName }),
    ...(config.tls.insecure ? { 'insecure-skip-tls-verify': true } : {}),
    ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(config.proxy === undefined ? {} : { 'proxy-url': config.proxy.reveal() }),
    ...(config.disableCompression ? { 'disable-compression': true } : {}),
    ...(extension === undefined ? {} : { config: extension.raw('extension') }),
  };
}
