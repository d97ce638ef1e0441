/** Connects a command to the cluster that the user means, and says goodbye when it is done. */
import { resolve } from 'node:path';
import type { KubeClient, KubeConfig } from '@keelson/kube';
import { failure } from '../failure.ts';
import type { GlobalOptions } from '../global-options.ts';
import type { Shell } from '../shell.ts';

export interface Cluster {
  readonly client: KubeClient;
  readonly config: KubeConfig;
}

/** A person is waiting: rather an error than a minute of silence. */
const patienceMs = 15_000;

/** Runs `work` with a client of the chosen cluster; its connections are closed whatever happens. */
export async function withCluster<T>(
  options: GlobalOptions,
  shell: Shell,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const { createClient } = await import('@keelson/kube');
  const config = await chosenConfig(options, shell);
  const client = createClient(config, { userAgent: 'keelson-cli', timeoutMs: patienceMs });
  try {
    return await work({ client, config });
  } finally {
    await client.close();
  }
}

/** The config that --kubeconfig, --context and the environment lead to. */
export async function chosenConfig(options: GlobalOptions, shell: Shell): Promise<KubeConfig> {
  const { isFault, loadConfig } = await import('@keelson/kube');
  try {
    return await loadConfig({
      env: shell.env,
      ...(options.kubeconfig === undefined ? {} : { kubeconfig: resolve(shell.cwd, options.kubeconfig) }),
      ...(options.context === undefined ? {} : { context: options.context }),
    });
  } catch (error) {
    if (!isFault(error, 'BadConfig')) throw error;
    throw failure(
      'unreachable',
      error.message,
      'point --kubeconfig or KUBECONFIG at a valid file, and --context at one of its contexts',
      error,
    );
  }
}
