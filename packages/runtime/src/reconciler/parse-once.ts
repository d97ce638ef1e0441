/** Instances are validated once a version, not once a turn: a large spec is costly to look through, and a turn may come for any reason. */
import { type KubeObject, type ParseResult, parseInstance, type Resource } from '@keelson/schema';

export type ParseOnce<R extends Resource> = (object: KubeObject) => ParseResult<R>;

/** Remembers what came of each object for as long as the cache holds that very object; results are frozen. */
export function createParseOnce<R extends Resource>(resource: R): ParseOnce<R> {
  const known = new WeakMap<KubeObject, ParseResult<R>>();
  return (object) => {
    const before = known.get(object);
    if (before !== undefined) return before;
    const result = parseInstance(resource, object);
    known.set(object, result);
    return result;
  };
}
