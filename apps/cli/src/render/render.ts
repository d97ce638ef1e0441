/** `render`: instances in, the objects that their operators would apply out. Pure but for the reading of files. */
import { renderInstance } from '@keelson/runtime';
import type { KubeObject } from '@keelson/schema';
import type { RenderOptions } from '../commands/render.ts';
import { loadProject } from '../config/load-config.ts';
import { asOperator } from '../config/operator-failure.ts';
import { failure } from '../failure.ts';
import { invalidInstance, nameOf, noteOthers, sortManifests } from '../input/instances.ts';
import { readManifests } from '../input/manifests.ts';
import { formatObjects } from '../output/format.ts';
import type { Shell } from '../shell.ts';

export async function render(options: RenderOptions, shell: Shell): Promise<void> {
  const { operators } = await loadProject(options, shell);
  const { instances, others } = sortManifests(await readManifests(options.filename, shell), operators);
  noteOthers(others, shell);
  const objects: KubeObject[] = [];
  for (const { operator, manifest, related } of instances) {
    const rendered = await asOperator(operator, () => renderInstance(operator, manifest.object, { related }));
    if (rendered.problems.length > 0) throw invalidInstance(manifest, rendered.problems);
    const { decision } = rendered;
    const name = nameOf(manifest.object);
    for (const warning of rendered.warnings) shell.note(`warning: ${name}: ${warning}\n`);
    if (decision?.kind === 'reject')
      throw failure('usage', `${manifest.place}: ${name} is rejected: ${decision.reason}: ${decision.message}`);
    if (decision?.kind === 'expire')
      shell.note(`note: ${name} would be deleted: ${decision.reason}: ${decision.message}\n`);
    if (decision?.kind === 'wait') shell.note(`note: ${name} would wait: ${decision.reason}: ${decision.message}\n`);
    objects.push(...rendered.objects);
  }
  shell.out(formatObjects(objects, options.output ?? 'yaml'));
}
