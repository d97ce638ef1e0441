/** Objects of a pod in which only one of several fields can be set: merging two of them is the commonest way to a pod that no server takes. */
import type { Problem } from '@keelson/schema';
import type { PlainMap } from './plain.ts';
import { podFields } from './pod-fields.ts';

interface Union {
  readonly among: readonly string[];
  /** One must be set; otherwise there is a default. */
  readonly required: boolean;
}

const handlers = ['exec', 'grpc', 'httpGet', 'sleep', 'tcpSocket'];

const unions: ReadonlyMap<string, Union> = new Map([
  ['Volume', { among: fieldsBut('Volume', 'name'), required: false }],
  ['VolumeProjection', { among: fieldsBut('VolumeProjection'), required: true }],
  ['EnvVar', { among: ['value', 'valueFrom'], required: false }],
  ['EnvVarSource', { among: fieldsBut('EnvVarSource'), required: true }],
  ['EnvFromSource', { among: ['configMapRef', 'secretRef'], required: true }],
  ['Probe', { among: handlers, required: true }],
  ['LifecycleHandler', { among: handlers, required: true }],
]);

/** More than one of the fields that exclude each other, or none of those of which one is needed. */
export function unionProblems(value: PlainMap, type: string, path: string): readonly Problem[] {
  const union = unions.get(type);
  if (union === undefined) return [];
  // An empty text is as good as none: that is how a server reads `value: ""` beside `valueFrom`.
  const set = union.among.filter((name) => value[name] !== undefined && value[name] !== null && value[name] !== '');
  if (set.length > 1)
    return [{ path, message: `only one of ${set.join(', ')} can be set: take away the others (null)` }];
  return set.length === 0 && union.required ? [{ path, message: `needs one of ${union.among.join(', ')}` }] : [];
}

function fieldsBut(type: string, ...others: readonly string[]): readonly string[] {
  return [...(podFields.get(type)?.fields.keys() ?? [])].filter((name) => !others.includes(name));
}
