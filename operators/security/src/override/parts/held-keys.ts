/**
 * Labels and annotations of pods that are not the user's to change: those that a workload selects its pods by (a server refuses the
 * workload otherwise), and the operator's own, by which pods are found and rolled.
 */
import type { Problem } from '@keelson/schema';
import { AGENT_LABEL } from '../../names.ts';
import { mapTemplate, templateOf } from '../../workload/template.ts';
import { below, isMap } from '../patch/plain.ts';
import { titleOf, type Workload } from './part.ts';

export type MetadataField = 'labels' | 'annotations';

const ownPrefix = AGENT_LABEL.slice(0, AGENT_LABEL.indexOf('/') + 1);

/** The changed workload with what is held as it was, and what was refused for it; `path` is where the override holds the field. */
export function holdKeys(
  before: Workload,
  after: Workload,
  field: MetadataField,
  path: string,
): { readonly workload: Workload; readonly refused: readonly Problem[] } {
  const wanted = templateOf(after.object)?.metadata?.[field] ?? {};
  const held = Object.entries(templateOf(before.object)?.metadata?.[field] ?? {}).filter(([key]) =>
    isHeld(key, before, field),
  );
  const changed = held.filter(([key, value]) => wanted[key] !== value);
  if (changed.length === 0) return { workload: after, refused: [] };
  const object = mapTemplate(after.object, (template) => ({
    ...template,
    metadata: { ...template.metadata, [field]: { ...wanted, ...Object.fromEntries(changed) } },
  }));
  const refused = changed.map(([key]) => ({
    path: below(path, key),
    message: `cannot be changed: ${reasonOf(key, before)}`,
  }));
  return { workload: { ...after, object }, refused };
}

function isHeld(key: string, workload: Workload, field: MetadataField): boolean {
  return key.startsWith(ownPrefix) || (field === 'labels' && Object.hasOwn(selectorOf(workload), key));
}

function reasonOf(key: string, workload: Workload): string {
  return key.startsWith(ownPrefix)
    ? 'the operator finds and rolls pods by it'
    : `${titleOf(workload)} selects its pods by it`;
}

function selectorOf({ object }: Workload): Readonly<Record<string, unknown>> {
  const selector = isMap(object.spec) ? object.spec.selector : undefined;
  const labels = isMap(selector) ? selector.matchLabels : undefined;
  return isMap(labels) ? labels : {};
}
