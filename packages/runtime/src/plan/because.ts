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
    /^(data|stringData)\b/.test(change.path) ? { ...change, from: hide(change.from), to: hide(change.to) } : change,
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

/** One change as a person reads it: `spec.replicas: 5 → 3 (set by kubectl-edit)`. */
export function describeChange(change: Change): string {
  const { path, from, to } = change;
  const who = describeTaker(change);
  if (from === redacted && to === redacted) return `${path}: changed${who}`;
  if (isSame(from, to)) return `${path}: ${toShort(to)} is not held by us${who}`;
  return `${path}: ${toShort(from)} → ${toShort(to)}${who}`;
}

/** ` (set by kubectl-edit)`, to follow a change that somebody else made; empty for any other. */
export function describeTaker({ from, by }: Change): string {
  return by === undefined ? '' : ` (${from === undefined ? 'removed' : 'set'} by ${by})`;
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
