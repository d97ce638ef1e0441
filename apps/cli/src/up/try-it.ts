/** Things to try in a cluster that is up, as commands that work when they are pasted: those of the project, or three that fit any. Pure. */
import { type KubeObject, storageVersionOf } from '@keelson/schema';
import type { Suggestion } from '../config/define-config.ts';
import type { Project } from '../config/load-config.ts';
import type { InstanceReport } from '../status/gather.ts';

/** `kubectl` and `keelson` are how the user calls them, kubeconfig and all. */
export function suggestions(
  { operators, up }: Pick<Project, 'operators' | 'up'>,
  instances: readonly InstanceReport[],
  call: { kubectl: string; keelson: string },
): Suggestion[] {
  if (up.tryIt !== undefined) {
    return up.tryIt.map(({ command, why }) => ({
      command: command.replace(/^(kubectl|keelson)(?= )/, (program) =>
        program === 'kubectl' ? call.kubectl : call.keelson,
      ),
      why,
    }));
  }
  const [operator] = operators;
  if (operator === undefined) return [];
  const { resource } = operator;
  const list: Suggestion[] = [
    { command: `${call.kubectl} get ${resource.plural} -A`, why: 'what the users of your operator see' },
  ];
  const instance = instances.find((candidate) => candidate.kind === resource.kind);
  if (instance === undefined) return list;
  const where = instance.namespace === undefined ? '' : ` -n ${instance.namespace}`;
  const name = `${resource.singular}/${instance.name}`;
  const { scale } = storageVersionOf(resource);
  if (scale !== undefined)
    list.push({
      command: `${call.kubectl} scale ${name} --replicas=${replicasOf(instance.object, scale.specReplicas) + 2}${where}`,
      why: 'ask for more, and watch it happen below',
    });
  else
    list.push({
      command: `${call.keelson} status ${name}${where}`,
      why: 'conditions, children and events of one instance',
    });
  const child = instance.children.find(({ kind }) => kind !== 'ConfigMap' && kind !== 'Secret') ?? instance.children[0];
  if (child !== undefined) {
    const place = child.namespace === undefined ? '' : ` -n ${child.namespace}`;
    list.push({
      command: `${call.kubectl} delete ${child.kind.toLowerCase()}/${child.name}${place}`,
      why: 'break something: the operator puts it back at once',
    });
  }
  return list;
}

function replicasOf(object: KubeObject, path: string): number {
  const value = path
    .split('.')
    .filter((part) => part !== '')
    .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], object);
  return typeof value === 'number' ? value : 0;
}
