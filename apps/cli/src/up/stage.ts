/** Where `up` plays: a cluster of its own that goes with it, or one that the user has and keeps. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { KubeConfig } from '@keelson/kube';
import { chosenConfig } from '../cluster/connect.ts';
import type { UpOptions } from '../commands/up.ts';
import { failure, isFailure } from '../failure.ts';
import type { Shell } from '../shell.ts';

export interface Stage {
  /** The cluster, as its administrator. */
  readonly config: KubeConfig;
  /** For files of this run; gone with it. */
  readonly folder: string;
  /** How the user calls kubectl and keelson against this cluster. */
  readonly call: { readonly kubectl: string; readonly keelson: string };
  /** What the user may want to know first. */
  readonly intro: string;
  /** Whether what was installed stays behind. */
  readonly stays: boolean;
  end(): Promise<void>;
}

export function openStage(options: UpOptions, shell: Shell): Promise<Stage> {
  return options.kubeconfig === undefined && options.context === undefined
    ? embedded(options, shell)
    : existing(options, shell);
}

async function embedded(options: UpOptions, shell: Shell): Promise<Stage> {
  const nodes = Number(options.nodes);
  if (!/^\d+$/.test(options.nodes) || nodes < 1 || nodes > 1000) {
    throw failure('usage', `--nodes ${options.nodes} is no number of nodes`, 'use a whole number from 1 to 1000');
  }
  const { startTestEnv } = await import('@keelson/testenv');
  const env = await startTestEnv({ level: 'cluster', nodes, onProgress: (line) => shell.out(`· ${line}\n`) }).catch(
    (error: unknown) => {
      if (isFailure(error) || !(error instanceof Error)) throw error;
      throw failure('failed', `the cluster does not start: ${error.message}`, undefined, error);
    },
  );
  const kubectl = join(env.dir, 'kubectl');
  const quoted = env.kubectlCommand.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  await writeFile(kubectl, `#!/bin/sh\nexec ${quoted} "$@"\n`);
  await chmod(kubectl, 0o755);
  return {
    config: await chosenConfig({ kubeconfig: env.kubeconfig }, shell),
    folder: env.dir,
    call: { kubectl, keelson: `keelson --kubeconfig ${env.kubeconfig}` },
    intro: `kubeconfig   ${env.kubeconfig}\nkubectl      ${kubectl} (needs no installation, knows the kubeconfig)\n`,
    stays: false,
    end: () => env.stop(),
  };
}

async function existing(options: UpOptions, shell: Shell): Promise<Stage> {
  const config = await chosenConfig(options, shell);
  const folder = await mkdtemp(join(tmpdir(), 'keelson-up-'));
  const flags = [
    ...(options.kubeconfig === undefined ? [] : [`--kubeconfig ${resolve(shell.cwd, options.kubeconfig)}`]),
    ...(options.context === undefined ? [] : [`--context ${options.context}`]),
  ].join(' ');
  return {
    config,
    folder,
    call: { kubectl: `kubectl ${flags}`, keelson: `keelson ${flags}` },
    intro: `cluster      ${config.server} (${config.source})\n`,
    stays: true,
    end: () => rm(folder, { recursive: true, force: true }),
  };
}
