/** One instance in detail: conditions, what it owns, what it said lately. */
import type { KubeClient } from '@keelson/kube';
import { type Condition, Event } from '@keelson/schema';
import { isAnyFault } from '../cluster/fault-to-failure.ts';
import { age } from '../output/age.ts';
import { toYaml } from '../output/format.ts';
import { table } from '../output/table.ts';
import type { Shell } from '../shell.ts';
import type { InstanceReport } from './gather.ts';
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
    block('Status', fields(instance)),
    block('Conditions', conditions(instance.conditions, now)),
    block('Children', children(instance, now)),
    block('Events', await events(client, instance, now)),
  ];
  return `${sections.filter((section) => section !== '').join('\n')}`;
}

function block(title: string, body: string): string {
  return body === '' ? '' : `${title}:\n${body.replace(/^(?=.)/gm, '  ')}`;
}

/** What the resource itself puts into its status. */
function fields({ object }: InstanceReport): string {
  const { conditions: _, observedGeneration: __, ...own } = (object.status ?? {}) as Record<string, unknown>;
  return Object.keys(own).length === 0 ? '' : toYaml(own);
}

function conditions(list: readonly Condition[], now: Date): string {
  if (list.length === 0) return '';
  return table(
    ['TYPE', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'],
    list.map(({ type, status, reason, message, lastTransitionTime }) => [
      type,
      status,
      reason,
      age(lastTransitionTime, now),
      message,
    ]),
  );
}

function children(instance: InstanceReport, now: Date): string {
  if (instance.children.length === 0) return '';
  return table(
    ['KIND', 'NAME', 'NAMESPACE', 'AGE'],
    instance.children.map(({ kind, name, namespace, created, deleting }) => [
      kind,
      name,
      namespace ?? '-',
      `${age(created, now)}${deleting ? ' (deleting)' : ''}`,
    ]),
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
        `${event.note ?? ''}${event.series === undefined ? '' : ` (${event.series.count} times)`}`,
      ]),
    );
  } catch (error) {
    // Events are a courtesy: whoever may read the instance need not be allowed to read them.
    if (isAnyFault(error) && error.code === 'Forbidden') return 'not allowed to list events\n';
    throw error;
  }
}
