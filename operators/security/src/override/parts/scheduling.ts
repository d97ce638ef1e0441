/** Where the pods run: tolerations, nodeSelector, affinity, priorityClassName. */
import type { Affinity, Toleration } from 'kubernetes-types/core/v1.js';
import { mergeByKey } from '../by-key.ts';
import { checkValue } from '../patch/check-value.ts';
import { checkLabels } from '../rules/keys.ts';
import { checkTolerations } from '../rules/tolerations.ts';
import type { ToolOverride } from '../schema.ts';
import { onPodSpec } from './part.ts';

type Field<Name extends keyof ToolOverride> = NonNullable<ToolOverride[Name]>;

/** One of the same key and effect is replaced, others are added. */
export const tolerations = onPodSpec<Field<'tolerations'>>(
  (spec, value) => ({ tolerations: [...mergeByKey<Toleration>(spec.tolerations, value, tolerationKey)] }),
  (value, path) => checkTolerations(value as readonly Toleration[], path),
);

/** Merged by key. */
export const nodeSelector = onPodSpec<Field<'nodeSelector'>>(
  (spec, value) => ({ nodeSelector: { ...spec.nodeSelector, ...value } }),
  checkLabels,
);

/** Replaced. */
export const affinity = onPodSpec<Affinity>(
  (_spec, value) => ({ affinity: value }),
  (value, path) => checkValue(value, 'Affinity', path),
);

/** Replaced. */
export const priorityClassName = onPodSpec<Field<'priorityClassName'>>((_spec, value) => ({
  priorityClassName: value,
}));

function tolerationKey({ key, effect }: Toleration): string {
  return `${key ?? ''}/${effect ?? ''}`;
}
