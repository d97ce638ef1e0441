/** Where the pods run: tolerations, nodeSelector, affinity, priorityClassName. */
import type { Affinity, Toleration } from 'kubernetes-types/core/v1.js';
import { mergeByKey } from '../by-key.ts';
import { checkValue } from '../patch/check-value.ts';
import type { ToolOverride } from '../schema.ts';
import { checkKeys } from './metadata-keys.ts';
import { onPodSpec } from './part.ts';
import { checkTolerations } from './toleration-rules.ts';

type Field<Name extends keyof ToolOverride> = NonNullable<ToolOverride[Name]>;

/** One of the same key and effect is replaced, others are added. */
export const tolerations = onPodSpec<Field<'tolerations'>>(
  (spec, value) => ({ tolerations: [...mergeByKey<Toleration>(spec.tolerations, value, tolerationKey)] }),
  checkTolerations,
);

/** Merged by key. */
export const nodeSelector = onPodSpec<Field<'nodeSelector'>>(
  (spec, value) => ({ nodeSelector: { ...spec.nodeSelector, ...value } }),
  checkKeys,
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
