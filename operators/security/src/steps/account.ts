/** Who the pods of a feature are: an account of their own, with exactly the rights that the feature declares. */
import { type KubeObject, manifest, ServiceAccount, toRbac } from '@keelson/schema';
import type { Feature, FeatureContext } from '../feature.ts';

/** The ServiceAccount of a feature; Kubernetes takes no underscores in names. */
export function accountName({ id }: Pick<Feature, 'id'>): string {
  return id.replaceAll('_', '-');
}

/** ServiceAccount, and where there are rights ClusterRole and binding, which carry the agent in their name. */
export function accountOf(feature: Feature, context: FeatureContext): readonly KubeObject[] {
  const name = accountName(feature);
  const { rights = [] } = feature;
  // A token is given to pods that have something to ask, by their own spec.
  const account = manifest(ServiceAccount, { name }, { automountServiceAccountToken: false });
  if (rights.length === 0) return [account];
  const { clusterRole, clusterRoleBinding } = toRbac(rights, {
    name: context.scopedName(name),
    namespace: context.namespace,
    serviceAccount: name,
  });
  return [
    account,
    ...(clusterRole === undefined ? [] : [clusterRole]),
    ...(clusterRoleBinding === undefined ? [] : [clusterRoleBinding]),
  ];
}
