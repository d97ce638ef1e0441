/** Sources for tests, in the form of real tools. */
import type { Output, StoreSettings } from '../../resource.ts';
import type { Store } from '../../store.ts';
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

/** An Elasticsearch as `spec.output` names it, with whatever else is said of it. */
export function outputOf(more: Partial<StoreSettings> = {}): Output {
  const indices = {
    events: 'security-events',
    inventory: 'security-inventory',
    vulnerability: 'security-vuln',
    deadLetters: 'security-dead-letters',
  };
  return { elasticsearch: { url: 'https://elasticsearch.logging.svc:9200', indices, ...more } };
}

/** The same as everything else sees it. */
export function storeWith(more: Partial<StoreSettings> = {}): Store {
  return { ...outputOf(more).elasticsearch, kind: 'elasticsearch', path: 'spec.output.elasticsearch' };
}
