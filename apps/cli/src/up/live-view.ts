/**
 * The status table while a cluster is up: on a terminal it is painted over itself, elsewhere every change is a line. Whatever
 * else is to be said meanwhile goes through `say`, so that the two do not tear each other apart.
 */
import { widthOf } from '../output/palette.ts';
import type { Shell } from '../shell.ts';
import { type InstanceReport, ownConditions } from '../status/gather.ts';
import { statusTable } from '../status/table.ts';

export interface LiveView {
  show(instances: readonly InstanceReport[]): void;
  say(text: string): void;
}

export function createLiveView(shell: Shell, now: () => Date): LiveView {
  return shell.live ? repainting(shell, now) : appending(shell);
}

function repainting(shell: Shell, now: () => Date): LiveView {
  let painted = 0;
  let table = '';
  const erase = (): string => (painted === 0 ? '' : `\u001b[${painted}A\u001b[0J`);
  const paint = (before: string): void => {
    shell.out(`${before}${table}`);
    // On a very narrow terminal a line takes more than one row.
    const rowsOf = (line: string): number => Math.max(1, Math.ceil(widthOf(line) / shell.columns));
    painted = table
      .split('\n')
      .slice(0, -1)
      .reduce((rows, line) => rows + rowsOf(line), 0);
  };
  return {
    show(instances) {
      const options = { namespaces: true, conditions: true, paint: shell.paint, columns: shell.columns, now: now() };
      const next = `\n${fit(statusTable(instances, options), shell.rows)}`;
      if (next === table) return;
      const before = erase();
      table = next;
      paint(before);
    },
    say(text) {
      paint(`${erase()}${text}`);
    },
  };
}

/** The cursor cannot go up beyond the top of the screen: what does not fit is counted instead of shown. */
function fit(table: string, rows: number): string {
  const lines = table.split('\n').slice(0, -1);
  const room = Math.max(2, rows - 3);
  if (lines.length <= room) return table;
  return `${lines.slice(0, room - 1).join('\n')}\n… and ${lines.length - room + 1} more\n`;
}

function appending(shell: Shell): LiveView {
  const last = new Map<string, string>();
  const show = (key: string, line: string): void => {
    if (last.get(key) !== line) shell.out(`${line}\n`);
    last.set(key, line);
  };
  return {
    show(instances) {
      const present = new Set<string>();
      for (const instance of instances) {
        const { kind, namespace, name, ready, reason, message, children } = instance;
        const key = `${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` in ${namespace}`}`;
        present.add(key);
        for (const { type, ...condition } of ownConditions(instance)) {
          present.add(`${key}: ${type}`);
          show(`${key}: ${type}`, `  ${type}=${condition.status} ${because(condition)}`);
        }
        show(key, `${key}: Ready=${ready} ${because({ reason, message })} (${children.length} children)`);
      }
      for (const key of last.keys()) {
        if (present.has(key)) continue;
        last.delete(key);
        shell.out(`${key}: gone\n`);
      }
    },
    say: (text) => shell.out(text),
  };
}

function because({ reason, message }: { readonly reason: string; readonly message: string }): string {
  return message === '' ? reason : `${reason}: ${message}`;
}
