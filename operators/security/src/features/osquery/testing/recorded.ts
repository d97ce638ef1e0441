/** Results as osquery 5.17 logs them (https://osquery.readthedocs.io/en/stable/deployment/logging), and what all tools share of each. */
import type { RecordedEvent } from '../../../telemetry/testing/recorded.ts';

const at = '2026-05-01T10:00:00';
const base = {
  hostIdentifier: 'node-1',
  calendarTime: 'Fri May  1 10:00:00 2026 UTC',
  unixTime: 1_777_629_600,
  epoch: 0,
  counter: 7,
  numerics: false,
  decorations: { host_uuid: '4740d59e-699e-5b29-960b-979aaf9bbeeb', hostname: 'node-1' },
};

export const recorded: readonly RecordedEvent[] = [
  {
    kind: 'a row that appeared',
    event: {
      name: 'pack_inventory_users',
      ...base,
      columns: { uid: '1001', username: 'mallory', shell: '/bin/bash', directory: '/home/mallory' },
      action: 'added',
    },
    at,
    shared: { 'rule.name': 'pack_inventory_users', 'event.action': 'added' },
  },
  {
    kind: 'a row that went',
    event: {
      name: 'pack_inventory_listening_ports',
      ...base,
      columns: { port: '22', protocol: '6', address: '0.0.0.0', pid: '812', path: '' },
      action: 'removed',
    },
    at,
    shared: { 'rule.name': 'pack_inventory_listening_ports', 'event.action': 'removed' },
  },
  {
    kind: 'numbers as numbers',
    event: { name: 'mine', ...base, numerics: true, columns: { pid: 812, size: 9_007_199_254_740 }, action: 'added' },
    at,
    shared: { 'rule.name': 'mine', 'event.action': 'added' },
  },
  {
    kind: 'a snapshot',
    event: {
      snapshot: [
        { name: 'ext4', used_by: '-' },
        { name: 'overlay', used_by: '-' },
      ],
      action: 'snapshot',
      name: 'modules',
      ...base,
    },
    at,
    shared: { 'rule.name': 'modules', 'event.action': 'snapshot' },
  },
  {
    kind: 'a batch of differences',
    event: { name: 'batch', ...base, diffResults: { added: [{ pid: '1' }], removed: [] } },
    at,
    shared: { 'rule.name': 'batch' },
  },
];
