/** One instance in detail: conditions, what it says of itself, what it owns, what happened lately. */
import type { KubeClient } from '@keelson/kube';
import { type Condition, Event } from '@keelson/schema';
import { isAnyFault } from '../cluster/fault-to-failure.ts';
import { age } from '../output/age.ts';
import type { Palette } from '../output/palette.ts';
import { table } from '../output/table.ts';
import type { Shell } from '../shell.ts';
import type { InstanceReport } from './gather.ts';
import { ownFields } from './own-fields.ts';
import { readyMark } from './table.ts';

export async function statusDetails(
  client: KubeClient,
  instance: InstanceReport,
  shell: Shell,
  now: Date,
): Promise<string> {
  const { paint } = shell;
  const place = instance.namespace === undefined ? '' : ` in ${instance.namespace}`;
  const sections = [
    `${paint.strong(`${instance.kind}/${instance.name}`)}${place}   ${readyMark(instance, paint)} ${instance.reason}\n${instance.message === '' ? '' : `${instance.message}\n`}`,
    block('Conditions', conditions(instance.conditions, now, paint)),
    block('Status', fields(instance, now)),
    block('Children', children(instance)),
    block('Events', await events(client, instance, now)),
  ];
  return `${sections.filter((section) => section !== '').join('\n')}`;
}

function block(title: string, body: string): string {
  return body === '' ? '' : `${title}:\n${body.replace(/^(?=.)/gm, '  ')}`;
}

/** What the resource itself puts into its status. */
function fields({ object }: InstanceReport, now: Date): string {
  const { conditions: _, observedGeneration: __, ...own } = (object.status ?? {}) as Record<string, unknown>;
  return ownFields(own, now);
}

function conditions(list: readonly Condition[], now: Date, paint: Palette): string {
  if (list.length === 0) return '';
  return table(
    ['TYPE', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'],
    list.map(({ type, status, reason, message, lastTransitionTime }) => [
      type,
      readyMark({ ready: status }, paint),
      reason,
      age(lastTransitionTime, now),
      message,
    ]),
  );
}

/** By kind, in the order of the operator: an instance can own dozens. */
function children({ children: all, namespace: home }: InstanceReport): string {
  if (all.length === 0) return '';
  const byKind = new Map<string, string[]>();
  for (const { kind, name, namespace, deleting } of all) {
    const elsewhere = namespace !== undefined && namespace !== home;
    const text = `${elsewhere ? `${namespace}/` : ''}${name}${deleting ? ' (deleting)' : ''}`;
    byKind.set(kind, [...(byKind.get(kind) ?? []), text]);
  }
  return table(
    ['KIND', 'NAMES'],
    [...byKind].map(([kind, names]) => [names.length === 1 ? kind : `${kind} (${names.length})`, names.join(', ')]),
  );
}

async function events(client: KubeClient, instance: InstanceReport, now: Date): Promise<string> {
  try {
    const { items } = await client.listAll(Event, {
      fieldSelector: `regarding.uid=${instance.object.metadata.uid}`,
      namespace: instance.namespace ?? 'default',
    });
    const last = (event: (typeof items)[number]) =>
      event.series?.lastObservedTime ?? event.eventTime ?? event.metadata.creationTimestamp ?? '';
    const recent = items.sort((a, b) => Date.parse(last(a)) - Date.parse(last(b))).slice(-8);
    if (recent.length === 0) return '';
    return table(
      ['LAST', 'TYPE', 'REASON', 'NOTE'],
      recent.map((event) => [
        age(last(event), now),
        event.type ?? '',
        event.reason ?? '',
        `${brief(event.note ?? '')}${event.series === undefined ? '' : ` (${event.series.count} times)`}`,
      ]),
    );
  } catch (error) {
    // Events are a courtesy: whoever may read the instance need not be allowed to read them.
    if (isAnyFault(error) && error.code === 'Forbidden') return 'not allowed to list events\n';
    throw error;
  }
}

/** The note of an event can name everything that was made. */
function brief(note: string): string {
  return note.length > 200 ? `${note.slice(0, 199)}…` : note;
}
