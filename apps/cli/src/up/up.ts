/**
 * `up`: from nothing to Ready instances. A cluster, the CRDs, the operators under their own ServiceAccount and generated
 * permissions, the samples, and then how they all are until Ctrl-C.
 *
 * Invariant: what it starts ends with it, in whatever way it ends; what it leaves in a cluster of the user's, it says.
 */
import { createClient } from '@keelson/kube';
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
import { startOperators } from './operators.ts';
import { openStage, type Stage } from './stage.ts';
import { watchInstances } from './watch-instances.ts';

export async function up(options: UpOptions, shell: Shell): Promise<void> {
  const started = performance.now();
  const project = await loadProject(options, shell);
  const samples = options.samples ? await readSamples(project, shell) : [];
  const interruption = onInterrupt(shell, () => shell.out('\nending …\n'));
  const stage = await Promise.race([openStage(options, project, shell), whenAborted(interruption.signal)]);
  // Interrupted while the cluster was starting: what runs already is cleared up as this process ends.
  if (stage === undefined) return shell.quit(exitCodes.ok.code);
  try {
    await perform({ project, samples, stage, started, shell }, interruption.signal);
  } finally {
    await stage.end();
    interruption.release();
  }
}

async function readSamples({ samples }: Project, shell: Shell): Promise<KubeObject[]> {
  if (samples.length === 0) return [];
  return (await readManifests(samples, shell)).map(({ object }) => object);
}

interface Play {
  readonly project: Project;
  readonly samples: readonly KubeObject[];
  readonly stage: Stage;
  readonly started: number;
  readonly shell: Shell;
}

async function perform({ project, samples, stage, started, shell }: Play, signal: AbortSignal): Promise<void> {
  // At once: whoever waits for instances that do not become Ready wants to look at the cluster meanwhile.
  shell.out(stage.intro);
  const client = createClient(stage.config, { userAgent: 'keelson-cli' });
  const installed: Installed[] = [];
  const put = async (what: string, objects: readonly KubeObject[], keep = false): Promise<void> => {
    if (objects.length === 0) return;
    shell.out(`· ${what}\n`);
    const tell = (one: Installed): void => {
      installed.push(one);
      if (stage.stays) shell.out(`    ${installedLine(one)}`);
    };
    await install(client, objects, { kinds: project.operators.map(({ resource }) => resource), keep, tell });
  };
  try {
    const account = `${project.namespace}/${project.name}`;
    if (!stage.stays) await put('installing the CRDs of other projects', await foreignCrds(project, shell));
    await put('installing the CRDs', crdsOf(project));
    await put(`installing the permissions of ServiceAccount ${account}`, [namespaceOf(project), ...rbacOf(project)]);
    await using operators = await startOperators(project, client, stage, signal);
    shell.out(`· running ${project.operators.map(({ name }) => name).join(', ')} (log: ${operators.log})\n`);
    await put(`applying ${samples.length} samples`, samples, true);
    await Promise.race([watchInstances({ project, client, stage, started, shell }, signal), operators.ended]);
  } finally {
    await client.close();
  }
  if (stage.stays) shell.out(farewell(installed, stage));
}

/** Without them the operators wait for what they need, which is no reason not to play. */
async function foreignCrds({ up: { crds } }: Project, shell: Shell): Promise<KubeObject[]> {
  if (crds === undefined) return [];
  try {
    const files = await crds((line) => shell.out(`· ${line}\n`));
    return (await readManifests(files, shell)).map(({ object }) => object);
  } catch (error) {
    shell.note(
      `note: there are no CRDs of other projects: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    return [];
  }
}

function farewell(installed: readonly Installed[], { call }: Stage): string {
  const created = installed.filter(({ outcome }) => outcome === 'created');
  if (created.length === 0) return 'The operators have stopped. This run has created nothing in the cluster.\n';
  const lines = created.map(({ object: { kind, metadata } }) => {
    const where = metadata.namespace === undefined ? '' : ` -n ${metadata.namespace}`;
    return `  ${kind.toLowerCase()}/${metadata.name}${where}\n`;
  });
  return [
    'The operators have stopped. What this run has created remains in the cluster:\n',
    ...lines,
    'Delete instances while an operator runs, so that it can clean up after them. What is listed above goes with\n',
    `  ${call.kubectl} delete KIND/NAME\n`,
  ].join('');
}

function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}
