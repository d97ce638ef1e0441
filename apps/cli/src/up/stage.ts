/** Where `up` plays: a cluster of its own that goes with it, or one that the user has and keeps. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { KubeConfig } from '@keelson/kube';
import type { TestEnv } from '@keelson/testenv';
import { chosenConfig } from '../cluster/connect.ts';
import type { UpOptions } from '../commands/up.ts';
import type { Project } from '../config/load-config.ts';
import { failure } from '../failure.ts';
import type { Shell } from '../shell.ts';

export interface Stage {
  /** The cluster, as its administrator. */
  readonly config: KubeConfig;
  /** For files of this run; gone with it. */
  readonly folder: string;
  /** How the user calls kubectl and keelson against this cluster. */
  readonly call: { readonly kubectl: string; readonly keelson: string };
  /** Where things are, for the user: known as soon as the cluster is up. */
  readonly intro: string;
  /** Whether what was installed stays behind. */
  readonly stays: boolean;
  end(): Promise<void>;
}

export function openStage(options: UpOptions, project: Project, shell: Shell): Promise<Stage> {
  return options.kubeconfig === undefined && options.context === undefined
    ? embedded(options, project, shell)
    : existing(options, project, shell);
}

async function embedded(options: UpOptions, project: Project, shell: Shell): Promise<Stage> {
  const nodes = Number(options.nodes);
  if (!/^\d+$/.test(options.nodes) || nodes < 1 || nodes > 1000) {
    throw failure('usage', `--nodes ${options.nodes} is no number of nodes`, 'use a whole number from 1 to 1000');
  }
  const { startTestEnv } = await import('@keelson/testenv');
  const onProgress = (line: string): void => shell.out(`· ${line}\n`);
  const env = await startTestEnv({ level: 'cluster', nodes, onProgress }).catch((error: unknown) => {
    if (!(error instanceof Error)) throw error;
    throw failure('failed', `the cluster does not start: ${error.message}`, undefined, error);
  });
  const flags = ['--kubeconfig', env.kubeconfig];
  const kubectl = await writeKubectl(join(env.dir, 'kubectl'), env);
  const keelson = await writeProgram(join(env.dir, 'keelson'), ownCommand(project, flags, shell));
  return {
    config: await chosenConfig({ kubeconfig: env.kubeconfig }, shell),
    folder: env.dir,
    call: { kubectl, keelson },
    intro: `kubeconfig   ${env.kubeconfig}\nkubectl      ${kubectl}\nkeelson      ${keelson}\n`,
    stays: false,
    end: () => env.stop(),
  };
}

async function existing(options: UpOptions, project: Project, shell: Shell): Promise<Stage> {
  const config = await chosenConfig(options, shell);
  const folder = await mkdtemp(join(tmpdir(), 'keelson-up-'));
  const flags = [
    ...(options.kubeconfig === undefined ? [] : ['--kubeconfig', resolve(shell.cwd, options.kubeconfig)]),
    ...(options.context === undefined ? [] : ['--context', options.context]),
  ];
  const kubectl = ['kubectl', ...flags].map(quote).join(' ');
  const keelson = await writeProgram(join(folder, 'keelson'), ownCommand(project, flags, shell));
  return {
    config,
    folder,
    call: { kubectl, keelson },
    intro: `cluster      ${config.server} (${config.source})\nkubectl      ${kubectl}\nkeelson      ${keelson}\n`,
    stays: true,
    end: () => rm(folder, { recursive: true, force: true }),
  };
}

/** This very program, for the same project and cluster wherever it is called from. */
function ownCommand(project: Project, flags: readonly string[], shell: Shell): string[] {
  return [...shell.self, ...(project.file === undefined ? [] : ['--config', project.file]), ...flags];
}

/** A file that runs a command: users need nothing on their PATH to copy and paste what we print. */
async function writeProgram(file: string, command: readonly string[]): Promise<string> {
  await writeFile(file, `#!/bin/sh\nexec ${command.map(quote).join(' ')} "$@"\n`, { mode: 0o755 });
  return file;
}

/**
 * A kubectl for this cluster and no other, whatever KUBECONFIG says: what is pasted from here must never reach another cluster. Only
 * `kubectl config` heeds KUBECONFIG, as people expect who work on a kubeconfig of their own; the file that all else here stands on is
 * shown by it, and never written.
 */
async function writeKubectl(file: string, { kubectlCommand, kubeconfig }: TestEnv): Promise<string> {
  const [here, bare] = [kubectlCommand, kubectlCommand.filter((word) => word !== `--kubeconfig=${kubeconfig}`)].map(
    (command) => `exec ${command.map(quote).join(' ')} "$@"`,
  );
  const lines = [
    '#!/bin/sh',
    'if [ "$1" = config ]; then',
    `  [ -z "$KUBECONFIG" ] || ${bare}`,
    '  case "$2" in',
    "    '' | view | current-context | get-* | -h | --help) ;;",
    "    *) echo 'error: this would change the kubeconfig that `keelson up` itself and all it prints stand on' >&2",
    "       echo 'remedy: name a file of your own: KUBECONFIG=file, or --kubeconfig=file before config' >&2",
    '       exit 1 ;;',
    '  esac',
    'fi',
    here,
  ];
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o755 });
  return file;
}

function quote(word: string): string {
  return /^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
