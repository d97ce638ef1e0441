/** The status table: used by `status`, and repainted by `up`. */
import { age } from '../output/age.ts';
import type { Palette } from '../output/palette.ts';
import { table } from '../output/table.ts';
import { type InstanceReport, ownConditions } from './gather.ts';

export interface TableOptions {
  /** Show the namespace. */
  readonly namespaces: boolean;
  /** Below each instance, the conditions that its operator states: a line each. */
  readonly conditions?: boolean;
  readonly paint: Palette;
  /** Width to fit into. */
  readonly columns: number;
  readonly now: Date;
}

/** One line an instance. */
export function statusTable(instances: readonly InstanceReport[], options: TableOptions): string {
  const { paint, namespaces, columns, now, conditions = false } = options;
  const heads = [...(namespaces ? ['NAMESPACE'] : []), 'NAME', 'READY', 'REASON', 'CHILDREN', 'AGE', 'MESSAGE'];
  const rows = instances.flatMap((instance) => [
    [
      ...(namespaces ? [instance.namespace ?? '-'] : []),
      `${instance.kind.toLowerCase()}/${instance.name}`,
      readyMark(instance, paint),
      instance.reason,
      childCounts(instance),
      age(instance.created, now),
      oneLine(instance.message),
    ],
    ...(conditions ? ownConditions(instance) : []).map(({ type, status, reason, message, lastTransitionTime }) => [
      ...(namespaces ? [''] : []),
      `  ${type}`,
      readyMark({ ready: status }, paint),
      reason,
      '',
      age(lastTransitionTime, now),
      oneLine(message),
    ]),
  ]);
  return table(heads, rows, columns);
}

/** Of a message, in a table: a few terminal widths are no glance any more. The details of an instance have all of it. */
const LONGEST_MESSAGE = 160;

function oneLine(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ');
  return line.length <= LONGEST_MESSAGE ? line : `${line.slice(0, LONGEST_MESSAGE - 1).trimEnd()}…`;
}

export function readyMark({ ready }: Pick<InstanceReport, 'ready'>, paint: Palette): string {
  const colour = ready === 'True' ? paint.good : ready === 'False' ? paint.bad : paint.warn;
  return colour(ready);
}

/** How many objects it owns, and how many of them are on their way out. */
function childCounts({ children }: InstanceReport): string {
  const deleting = children.filter((child) => child.deleting).length;
  return deleting === 0 ? String(children.length) : `${children.length} (${deleting} deleting)`;
}
