/** `crds`: the CRDs of the operators, printed or installed. */
import { type CustomResourceDefinition, type Resource, toCrd } from '@keelson/schema';
import { withCluster } from '../cluster/connect.ts';
import type { CrdsOptions } from '../commands/crds.ts';
import { loadProject, type Project } from '../config/load-config.ts';
import { formatObjects } from '../output/format.ts';
import type { Shell } from '../shell.ts';
import { install, installedLine } from './install.ts';

export async function crds(options: CrdsOptions, shell: Shell): Promise<void> {
  const objects = crdsOf(await loadProject(options, shell));
  if (options.apply !== true) {
    shell.out(formatObjects(objects, options.output ?? 'yaml'));
    return;
  }
  await withCluster(options, shell, async ({ client }) => {
    await install(client, objects, { tell: (installed) => shell.out(installedLine(installed)) });
  });
}

/** One CRD a resource, however many operators share it. */
export function crdsOf({ operators }: Pick<Project, 'operators'>): CustomResourceDefinition[] {
  const resources = new Set<Resource>(operators.map(({ resource }) => resource));
  return [...resources].map((resource) => toCrd(resource));
}
