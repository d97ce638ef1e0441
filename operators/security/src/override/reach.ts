/** Which workloads an override reaches: `nodeAgent` every DaemonSet, a key of `perTool` the workloads of a feature, or the one of that name. */
import { didYouMean, type KubeObject } from '@keelson/schema';
import type { Contribution } from '../contribution.ts';
import { templateOf } from '../workload/template.ts';

/** Says whether an object of a feature is reached. */
export type Reach = (feature: string, object: KubeObject) => boolean;

/** Every DaemonSet. */
export const everyDaemonSet: Reach = (_feature, object) => object.kind === 'DaemonSet';

/** All workloads of the feature, if there is one of this id; otherwise the workload of this name. */
export function reachOf(key: string, features: readonly string[]): Reach {
  if (features.includes(key)) return (feature) => feature === key;
  return (_feature, object) => object.metadata.name === key;
}

/** Why a key of `perTool` reaches nothing, and what it could be instead. */
export function strangerMessage(
  key: string,
  contributions: readonly Contribution[],
  knownFeatures: readonly string[],
): string {
  const running = contributions.find(({ feature }) => feature === key);
  if (running !== undefined) return 'the feature has no pods of its own: there is nothing to override';
  if (knownFeatures.includes(key)) return 'the feature installs nothing now: enable it, or remove this override';
  const workloads = contributions.flatMap(({ objects }) =>
    objects.filter((object) => templateOf(object) !== undefined),
  );
  const names = [
    ...new Set([...contributions.map(({ feature }) => feature), ...workloads.map(({ metadata }) => metadata.name)]),
  ];
  const there = names.length === 0 ? 'nothing is installed' : `there are ${names.join(', ')}`;
  return `no feature or workload of this name: ${there}${didYouMean(key, [...names, ...knownFeatures])}`;
}
