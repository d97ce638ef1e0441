/** `status`: chooses the instances, prints the table, the details of one, or the data. */
import type { KubeClient } from '@keelson/kube';
import type { Operator } from '@keelson/runtime';
import { withCluster } from '../cluster/connect.ts';
import type { StatusOptions } from '../commands/status.ts';
import { loadProject } from '../config/load-config.ts';
import { operatorOf } from '../config/operator-of.ts';
import { exitCodes } from '../exit-codes.ts';
import { failure } from '../failure.ts';
import { format } from '../output/format.ts';
import type { Shell } from '../shell.ts';
import { statusDetails } from './details.ts';
import { gatherStatus, type InstanceReport, namesOf, type StatusReport } from './gather.ts';
import { statusTable } from './table.ts';

export async function showStatus(wanted: string | undefined, options: StatusOptions, shell: Shell): Promise<void> {
  const project = await loadProject(options, shell);
  const [kind, name, ...rest] = wanted?.split('/') ?? [];
  if (rest.length > 0 || name === '')
    throw failure('usage', `'${wanted}' names no instance`, 'write kind/name: website/front');
  const operators = kind === undefined ? project.operators : [operatorOf(kind, project.operators)];
  await withCluster(options, shell, async ({ client, config }) => {
    const namespace = options.allNamespaces === true ? undefined : (options.namespace ?? config.namespace);
    const report = await gatherStatus(client, operators, namespace);
    if (report.missing.length === operators.length) {
      throw failure(
        'missing',
        `the cluster does not know ${namesOf(report.missing)}: CRD not installed`,
        '`keelson crds --apply` installs it',
      );
    }
    const instances =
      name === undefined ? report.instances : report.instances.filter((instance) => instance.name === name);
    if (name !== undefined && instances.length === 0) {
      const where = namespace === undefined ? 'any namespace' : `namespace ${namespace}`;
      throw failure('missing', `no ${kind} named ${name} in ${where}`, '`keelson status -A` lists all there are');
    }
    await print(
      { ...report, instances },
      { client, operators, namespace, detailed: name !== undefined },
      options,
      shell,
    );
    if (options.exitCode === true && instances.some(({ ready }) => ready !== 'True'))
      shell.exitWith(exitCodes.unready.code);
  });
}

interface Scene {
  readonly client: KubeClient;
  readonly operators: readonly Operator[];
  readonly namespace: string | undefined;
  readonly detailed: boolean;
}

async function print(report: StatusReport, scene: Scene, options: StatusOptions, shell: Shell): Promise<void> {
  const { instances, missing, hidden } = report;
  if (options.output !== undefined) return shell.out(format({ instances: instances.map(toData) }, options.output));
  if (missing.length > 0) shell.note(`note: CRD not installed: ${namesOf(missing)} (\`keelson crds --apply\`)\n`);
  if (hidden.length > 0) shell.note(`note: not allowed to list ${namesOf(hidden)}: such children are not counted\n`);
  if (scene.detailed) {
    for (const instance of instances) shell.out(await statusDetails(scene.client, instance, shell, new Date()));
    return;
  }
  if (instances.length > 0)
    shell.out(
      statusTable(instances, {
        namespaces: scene.namespace === undefined,
        paint: shell.paint,
        columns: shell.live ? shell.columns : Number.POSITIVE_INFINITY,
        now: new Date(),
      }),
    );
  tellNone(instances, scene, options, shell);
}

/** Says of which kinds there are none, where the reader may think that there are none at all. */
function tellNone(instances: readonly InstanceReport[], scene: Scene, options: StatusOptions, shell: Shell): void {
  const isChosen = scene.namespace === undefined || options.namespace !== undefined;
  if (isChosen && instances.length > 0) return;
  const kinds = scene.operators
    .map(({ resource }) => resource.kind)
    .filter((kind) => !instances.some((instance) => instance.kind === kind));
  if (kinds.length === 0) return;
  const where = scene.namespace === undefined ? 'in any namespace' : `in namespace ${scene.namespace}`;
  const hint = scene.namespace === undefined ? '' : '; `keelson status -A` looks in all namespaces';
  shell.note(`No ${kinds.join(' or ')} ${where}${hint}.\n`);
}

/** The data of an instance: all that the table and the details are made of, but not the object itself. */
function toData({ object, ...data }: InstanceReport): Record<string, unknown> {
  return { ...data, status: object.status ?? {} };
}
