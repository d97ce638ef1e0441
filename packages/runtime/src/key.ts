/** A key names one instance within an operator: `namespace/name`, or `name` for a cluster-scoped resource. It is all that the queue holds. */
import type { Ref } from '@keelson/schema';

export type Key = string;

/** The key of an object or reference. */
export function toKey(ref: Ref): Key {
  return ref.namespace === undefined || ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`;
}

/** The reference that a key stands for. */
export function toRef(key: Key): Ref {
  const slash = key.indexOf('/');
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
