/**
 * What Tetragon writes. An event stands under the name of its kind, with its process below: https://tetragon.io/docs/reference/grpc-api.
 * What a policy found carries the name of the policy and the tags of the hook.
 */
import { type LogSource, syslogLevels } from '../../telemetry/source.ts';
import { EVENTS_FILE, ROTATED_FILES } from './settings.ts';

/** Kinds of events that come of a policy. */
const found = ['process_kprobe', 'process_tracepoint', 'process_lsm', 'process_uprobe', 'process_usdt'];
const kinds = ['process_exec', 'process_exit', ...found, 'process_loader'];

const ofPolicies = (field: string): readonly string[] => found.map((kind) => `${kind}.${field}`);
const ofProcesses = (field: string): readonly string[] => kinds.map((kind) => `${kind}.process.${field}`);

export const eventSource: LogSource = {
  tool: 'tetragon',
  path: EVENTS_FILE,
  rotated: ROTATED_FILES,
  index: 'events',
  time: { field: 'time', layout: '2006-01-02T15:04:05.999999999Z07:00', layoutType: 'gotime' },
  // Tetragon knows no severity: our policies have it among their tags, in the words of Falco, and those of users may.
  severity: { fields: ofPolicies('tags'), levels: syslogLevels },
  shared: {
    'rule.name': ofPolicies('policy_name'),
    'process.executable': ofProcesses('binary'),
    'kubernetes.namespace': ofProcesses('pod.namespace'),
    'kubernetes.pod.name': ofProcesses('pod.name'),
    'kubernetes.container.name': ofProcesses('pod.container.name'),
    'container.id': ofProcesses('pod.container.id'),
  },
  techniques: ofPolicies('tags'),
};
