/** `generate`: everything under deploy/ and docs/reference that comes out of the operators. */
import { resourceNameOf, toRbacReference, toReference } from '@keelson/schema';
import type { GenerateOptions } from '../commands/generate.ts';
import type { GeneratedFile } from '../config/define-config.ts';
import { loadProject, type Project } from '../config/load-config.ts';
import { failure } from '../failure.ts';
import { crdsOf } from '../install/crds.ts';
import { grantsOf, rbacOf } from '../install/rbac.ts';
import type { Shell } from '../shell.ts';
import { markdownFile, yamlFile } from './files.ts';
import { findStale, writeStale } from './sync-files.ts';

export async function generate(options: GenerateOptions, shell: Shell): Promise<void> {
  const project = await loadProject(options, shell);
  if (project.file === undefined) {
    throw failure(
      'usage',
      `no keelson.config.ts in ${shell.cwd}`,
      'generate writes into a project: run it in its folder, or name its config with --config',
    );
  }
  const files = await filesOf(project);
  const stale = await findStale(project.root, files, [
    `${project.deploy}/crds`,
    `${project.deploy}/rbac`,
    project.reference,
  ]);
  if (options.check === true && stale.length > 0) {
    const list = stale.map(
      ({ path, why }) =>
        `\n  ${path}: ${why === 'orphan' ? 'no longer generated' : why === 'missing' ? 'missing' : 'differs'}`,
    );
    throw failure(
      'pending',
      `${stale.length} of ${files.length} generated files are stale:${list.join('')}`,
      '`keelson generate` writes them; commit the result',
    );
  }
  if (options.check !== true) await writeStale(project.root, files, stale);
  for (const { path, why } of stale) shell.out(`${why === 'orphan' ? 'removed' : 'wrote'} ${path}\n`);
  shell.out(`${files.length} files are up to date.\n`);
}

async function filesOf(project: Project): Promise<GeneratedFile[]> {
  const { deploy, reference, operators } = project;
  const resources = [...new Set(operators.map(({ resource }) => resource))];
  return [
    ...crdsOf(project).map((crd) => ({ path: `${deploy}/crds/${crd.metadata.name}.yaml`, content: yamlFile([crd]) })),
    { path: `${deploy}/rbac/${project.name}.yaml`, content: yamlFile(rbacOf(project)) },
    ...resources.map((resource) => ({
      path: `${reference}/${resourceNameOf(resource)}.md`,
      content: markdownFile(toReference(resource)),
    })),
    {
      path: `${reference}/permissions.md`,
      content: markdownFile(`# Permissions\n\n${toRbacReference(grantsOf(project, project.namespace))}`),
    },
    ...(await project.extra()).map(({ path, content }) => ({ path, content })),
  ];
}
