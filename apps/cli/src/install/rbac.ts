/** `rbac`: what the operators may do, printed or installed. */
import { permissions, webhookGrants } from '@keelson/runtime';
import { type Grant, type KubeObject, manifest, Namespace, toRbac } from '@keelson/schema';
import { withCluster } from '../cluster/connect.ts';
import type { RbacOptions } from '../commands/rbac.ts';
import { loadProject, type Project } from '../config/load-config.ts';
import { formatObjects } from '../output/format.ts';
import type { Shell } from '../shell.ts';
import { install, installedLine } from './install.ts';

export async function rbac(options: RbacOptions, shell: Shell): Promise<void> {
  const project = await loadProject(options, shell);
  const objects = rbacOf(project, options);
  if (options.apply !== true) {
    shell.out(formatObjects(objects, options.output ?? 'yaml'));
    return;
  }
  await withCluster(options, shell, async ({ client }) => {
    const all = [namespaceOf(project, options), ...objects];
    await install(client, all, { tell: (installed) => shell.out(installedLine(installed)) });
  });
}

/** Where the operators run: what the user says, else what the config says. */
function home(project: Project, options: { readonly namespace?: string }): string {
  return options.namespace ?? project.namespace;
}

/** What a process with the operators of a project may do: their own rights, its lease, and its webhooks where it has any. */
export function grantsOf({ operators, name }: Project, namespace: string): Grant[] {
  return [
    ...permissions(operators, { leaderElection: { namespace, name } }),
    ...webhookGrants({ operators, certificates: { secret: { namespace, name: `${name}-webhooks` } } }),
  ];
}

/** The ServiceAccount, roles and bindings of a project, in apply order. */
export function rbacOf(
  project: Project,
  options: { readonly namespace?: string; readonly watchNamespace?: string } = {},
): readonly KubeObject[] {
  const namespace = home(project, options);
  return toRbac(grantsOf(project, namespace), {
    // An installation beside the usual one has roles and bindings of its own: cluster-wide names are shared by all namespaces.
    name: namespace === project.namespace ? project.name : `${project.name}.${namespace}`,
    serviceAccount: project.name,
    namespace,
    ...(options.watchNamespace === undefined ? {} : { namespaces: [options.watchNamespace] }),
  }).objects;
}

/** The namespace that they run in; installed with the permissions, but not part of them. */
export function namespaceOf(project: Project, options: { readonly namespace?: string } = {}): Namespace {
  return manifest(Namespace, { name: home(project, options) }, {});
}
