/** Labels and annotations of the pods: merged by key, but for those that are held. */
import { checkAnnotations, checkLabels } from '../rules/keys.ts';
import { holdKeys, type MetadataField } from './held-keys.ts';
import { onTemplate, type Part } from './part.ts';

/** Merged by key. Those that select the pods stay. */
export const labels = metadataPart('labels');

/** Merged by key. */
export const annotations = metadataPart('annotations');

function metadataPart(field: MetadataField): Part<Readonly<Record<string, string>>> {
  const merging = onTemplate<Readonly<Record<string, string>>>(({ metadata, ...template }, value) => ({
    ...template,
    metadata: { ...metadata, [field]: { ...metadata?.[field], ...value } },
  }));
  return {
    check: field === 'labels' ? checkLabels : checkAnnotations,
    merge: (workload, value, path) => holdKeys(workload, merging.merge(workload, value, path).workload, field, path),
  };
}
