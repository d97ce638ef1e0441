/** The pods that a change of a workload's pod template replaces: those that its selector finds now. */
import type { KubeClient } from '@keelson/kube';
import { type KubeObject, Pod } from '@keelson/schema';
import { isAnyFault } from '../cluster/fault-to-failure.ts';

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** Their names, sorted. A user who may not list pods gets none: the change itself still says that pods restart. */
export async function restartingPods(client: KubeClient, workload: KubeObject): Promise<string[]> {
  const selector = (workload.spec as { selector?: Selector } | undefined)?.selector;
  if (selector === undefined || workload.metadata.namespace === undefined) return [];
  try {
    const { items } = await client.listAll(Pod, {
      namespace: workload.metadata.namespace,
      labelSelector: toQuery(selector),
      metadataOnly: true,
    });
    return items.map(({ metadata }) => metadata.name).sort();
  } catch (error) {
    if (isAnyFault(error) && error.code === 'Forbidden') return [];
    throw error;
  }
}

/** A label selector as the API takes it in a query. */
export function toQuery({ matchLabels = {}, matchExpressions = [] }: Selector): string {
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const rest = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
  });
  return [...equal, ...rest].join(',');
}
