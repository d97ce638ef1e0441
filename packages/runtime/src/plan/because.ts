/** Says in words why a step is taken. What a Secret holds never gets into words. */
import type { Kind } from '@keelson/schema';
import type { Change } from './plan.ts';
import { isSame } from './value.ts';

/** Stands for every value of a Secret. */
export const redacted = '[redacted]';

const SHOWN = 3;
const LONGEST_VALUE = 60;

/** The same changes, without what must not be shown. */
export function redactChanges(kind: Kind, changes: readonly Change[]): readonly Change[] {
  if (kind.group !== '' || kind.kind !== 'Secret') return changes;
  return changes.map((change) =>
    /^(data|stringData)\b/.test(change.path)
      ? { path: change.path, from: hide(change.from), to: hide(change.to) }
      : change,
  );
}

function hide(value: unknown): unknown {
  return value === undefined ? undefined : redacted;
}

/** `spec.replicas: 2 → 3; spec.paused: true → none; and 2 more` */
export function becauseOf(changes: readonly Change[]): string {
  const shown = changes.slice(0, SHOWN).map(describeChange);
  const more = changes.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** One change as a person reads it. */
export function describeChange(change: Change): string {
  if (change.from === redacted && change.to === redacted) return `${change.path}: changed`;
  if (isSame(change.from, change.to)) return `${change.path}: ${toShort(change.to)} is not held by us`;
  return `${change.path}: ${toShort(change.from)} → ${toShort(change.to)}`;
}

function toShort(value: unknown): string {
  if (value === undefined) return 'none';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const line = text.replaceAll('\n', '⏎');
  return line.length <= LONGEST_VALUE ? line : `${line.slice(0, LONGEST_VALUE - 1)}…`;
}

/** True when the changes make a controller replace pods. */
export function replacesPods(
  kind: Kind,
  live: { readonly [field: string]: unknown },
  changes: readonly Change[],
): boolean {
  if (kind.group !== 'apps' || !['Deployment', 'StatefulSet', 'DaemonSet'].includes(kind.kind)) return false;
  const spec = live.spec as { updateStrategy?: { type?: string } } | undefined;
  if (spec?.updateStrategy?.type === 'OnDelete') return false;
  // Taking a field back whose value is right changes nothing in the template.
  return changes.some(({ path, from, to }) => path.startsWith('spec.template.') && !isSame(from, to));
}
