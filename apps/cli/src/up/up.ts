/**
 * `up`: from nothing to Ready instances. A cluster, the CRDs, the operators under their own ServiceAccount and generated
 * permissions, the samples, and then how they all are until Ctrl-C.
 *
 * Invariant: what it starts ends with it, in whatever way it ends; what it leaves in a cluster of the user's, it says.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type KubeClient } from '@keelson/kube';
import { createLogger, createManager } from '@keelson/runtime';
import type { KubeObject } from '@keelson/schema';
import type { UpOptions } from '../commands/up.ts';
import { loadProject, type Project } from '../config/load-config.ts';
import { exitCodes } from '../exit-codes.ts';
import { readManifests } from '../input/manifests.ts';
import { crdsOf } from '../install/crds.ts';
import { type Installed, install, installedLine } from '../install/install.ts';
import { namespaceOf, rbacOf } from '../install/rbac.ts';
import { onInterrupt } from '../run/signals.ts';
import type { Shell } from '../shell.ts';
import { gatherStatus } from '../status/gather.ts';
import { serviceAccountIdentity } from './identity.ts';
import { createLiveView } from './live-view.ts';
import { openStage, type Stage } from './stage.ts';
import { suggestions } from './try-it.ts';

export async function up(options: UpOptions, shell: Shell): Promise<void> {
  const project = await loadProject(options, shell);
  const samples =
    options.samples && project.samples.length > 0
      ? (await readManifests(project.samples, shell)).map(({ object }) => object)
      : [];
  const started = performance.now();
  const interruption = onInterrupt(shell, () => shell.out('\nending …\n'));
  const opening = openStage(options, shell);
  const stage = await Promise.race([opening, aborted(interruption.signal)]);
  // Interrupted while the cluster was starting: what runs already is cleared up as this process ends.
  if (stage === undefined) return shell.quit(exitCodes.ok.code);
  try {
    await perform(project, samples, stage, started, interruption.signal, shell);
  } finally {
    interruption.release();
    await stage.end();
  }
}

async function perform(
  project: Project,
  samples: readonly KubeObject[],
  stage: Stage,
  started: number,
  signal: AbortSignal,
  shell: Shell,
): Promise<void> {
  const client = createClient(stage.config, { userAgent: 'keelson-cli' });
  const installed: Installed[] = [];
  const put = async (what: string, objects: readonly KubeObject[]): Promise<void> => {
    shell.out(`· ${what}\n`);
    const tell = (one: Installed): void => {
      installed.push(one);
      if (stage.stays) shell.out(`    ${installedLine(one)}`);
    };
    await install(client, objects, { kinds: project.operators.map(({ resource }) => resource), tell });
  };
  try {
    await put('installing the CRDs', crdsOf(project));
    await put(`installing the permissions of ServiceAccount ${project.namespace}/${project.name}`, [
      namespaceOf(project),
      ...rbacOf(project),
    ]);
    await using operators = await startOperators(project, client, stage, signal);
    shell.out(`· running ${project.operators.map(({ name }) => name).join(', ')} (log: ${operators.log})\n`);
    if (samples.length > 0) await put(`applying ${samples.length} samples`, samples);
    await Promise.race([watch(project, client, stage, started, signal, shell), operators.ended]);
  } finally {
    await client.close();
  }
  if (stage.stays) shell.out(farewell(installed, stage));
}

interface RunningOperators extends AsyncDisposable {
  readonly log: string;
  /** Rejects when they cannot go on. */
  readonly ended: Promise<void>;
}

async function startOperators(
  project: Project,
  client: KubeClient,
  stage: Stage,
  signal: AbortSignal,
): Promise<RunningOperators> {
  const account = { name: project.name, namespace: project.namespace };
  const identity = await serviceAccountIdentity(client, stage.config, account, stage.folder);
  const log = join(stage.folder, 'operators.log');
  const stopping = new AbortController();
  const ending = AbortSignal.any([signal, stopping.signal]);
  const own = createClient(identity.config, { userAgent: project.name });
  const manager = createManager({
    client: own,
    operators: project.operators,
    leaderElection: false,
    logger: createLogger({ format: 'json', destination: createWriteStream(log) }),
  });
  const ended = Promise.all([manager.run(ending), identity.renew(ending)]).then(() => {});
  return {
    log,
    ended,
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      // How they ended was told to whoever watched them.
      await ended.catch(() => {});
      await own.close();
    },
  };
}

const pollMs = 1000;

/** Shows how the instances are, says once when all are Ready, and goes on until the signal. */
async function watch(
  project: Project,
  client: KubeClient,
  stage: Stage,
  started: number,
  signal: AbortSignal,
  shell: Shell,
): Promise<void> {
  const view = createLiveView(shell, () => new Date());
  let announced = false;
  while (!signal.aborted) {
    const { instances } = await gatherStatus(client, project.operators, undefined);
    view.show(instances);
    if (!announced && instances.every(({ ready }) => ready === 'True')) {
      announced = true;
      view.say(announcement(project, stage, instances, started, shell));
    }
    await sleep(announced ? pollMs : pollMs / 4, undefined, { signal }).catch(() => {});
  }
}

function announcement(
  project: Project,
  stage: Stage,
  instances: Parameters<typeof suggestions>[1],
  started: number,
  shell: Shell,
): string {
  const { strong, name, faint } = shell.paint;
  const things = suggestions(project.operators, instances, stage.call).map(
    ({ command, why }, index) => `  ${index + 1}. ${faint(`${why}:`)}\n     ${name(command)}\n`,
  );
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  return `\n${strong(`ready in ${seconds} s`)}\n\n${stage.intro}\nThings to try, in another terminal:\n${things.join('')}\nCtrl-C ends it all.\n`;
}

function farewell(installed: readonly Installed[], { call }: Stage): string {
  const lines = installed.map(
    ({ object }) =>
      `  ${object.kind.toLowerCase()}/${object.metadata.name}${object.metadata.namespace === undefined ? '' : ` -n ${object.metadata.namespace}`}\n`,
  );
  return `The operators have stopped. In the cluster there remain:\n${lines.join('')}Delete instances while an operator runs, so that it can clean up after them; anything above goes with\n  ${call.kubectl} delete KIND/NAME\n`;
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}
