/** The config of a pod: the API server from the environment, token, CA and namespace from the mounted service account. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../fault.ts';
import type { KubeConfig } from './config.ts';
import { proxyFromEnv } from './proxy.ts';
import { Secret } from './secret.ts';

type Env = Readonly<Record<string, string | undefined>>;

export const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

export function isInCluster(env: Env): boolean {
  return Boolean(env.KUBERNETES_SERVICE_HOST && env.KUBERNETES_SERVICE_PORT);
}

/** The config of the pod that this process runs in; call it only where `isInCluster`. */
export async function inClusterConfig(env: Env, directory: string): Promise<KubeConfig> {
  const host = env.KUBERNETES_SERVICE_HOST ?? '';
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${env.KUBERNETES_SERVICE_PORT ?? ''}`;
  const token = join(directory, 'token');
  try {
    await readFile(token);
  } catch (error) {
    const remedy = 'the pod has no service account token: set automountServiceAccountToken: true, or name a kubeconfig';
    throw new Fault('BadConfig', `in-cluster config: ${token} cannot be read: ${remedy}`, {}, error);
  }
  // A pod always has the file; elsewhere (a debugger with the variables set) `default` is what kubectl would use.
  const namespace = await readFile(join(directory, 'namespace'), 'utf8').catch(() => 'default');
  const proxy = proxyFromEnv(new URL(server), env);
  return {
    server,
    namespace: namespace.trim() || 'default',
    source: `service account in ${directory}`,
    tls: { ca: { file: join(directory, 'ca.crt') }, insecure: false },
    authentication: { type: 'token-file', file: token },
    disableCompression: false,
    ...(proxy === undefined ? {} : { proxy: new Secret(proxy) }),
  };
}
