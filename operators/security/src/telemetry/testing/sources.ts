/** Sources for tests, in the form of real tools. */
import type { Output, StoreSettings } from '../../resource.ts';
import type { Store, StoreKind } from '../../store.ts';
import type { LogSource } from '../source.ts';

/** Tells time and severity. */
export const guard: LogSource = {
  tool: 'guard',
  path: '/var/log/security/guard/events.log',
  index: 'events',
  time: { field: 'time', layout: '2006-01-02T15:04:05.999999999Z07:00', layoutType: 'gotime' },
  severity: { fields: ['how.bad'], levels: { error: ['Bad'], info: ['Fine'] } },
  shared: { 'rule.name': ['rule'], 'kubernetes.pod.name': ['where["k8s.pod"]', 'where.pod'] },
  nothing: ['<NA>'],
  techniques: ['labels'],
};

/** Tells neither, and names rotated files in its own way. */
export const watcher: LogSource = {
  tool: 'watcher',
  path: '/var/log/security/watcher/events.log',
  rotated: '/var/log/security/watcher/events-*.log',
  index: 'events',
};

export const census: LogSource = {
  tool: 'census',
  path: '/var/log/security/census/results.log',
  index: 'inventory',
  time: { field: 'unixTime', layout: 's', layoutType: 'epoch' },
};

/** A store with whatever is said of it. */
export function storeWith(more: Partial<StoreSettings> = {}, kind: StoreKind = 'elasticsearch'): Store {
  const indices = {
    events: 'security-events',
    inventory: 'security-inventory',
    vulnerability: 'security-vuln',
    deadLetters: 'security-dead-letters',
  };
  return { url: `https://${kind}.logging.svc:9200`, indices, ...more, kind, path: `spec.output.${kind}` };
}

/** The same as `spec.output` names it. */
export function outputOf(more: Partial<StoreSettings> = {}, named: StoreKind = 'elasticsearch'): Output {
  const { kind, path: _path, ...settings } = storeWith(more, named);
  return kind === 'elasticsearch' ? { elasticsearch: settings } : { opensearch: settings };
}
