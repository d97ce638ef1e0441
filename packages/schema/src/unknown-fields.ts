/** Finds what a schema silently drops: the typing mistakes that the API server forgives a client and kubectl does not. */
import { isPlainObject } from './validate/plain.ts';
import { formatPath, type Problem } from './validate/report.ts';

/** The fields of `given` that are missing from `parsed`, which `parseInstance` made out of it; nulls are not missed. */
export function unknownFields(given: unknown, parsed: unknown): readonly Problem[] {
  return lostBelow(given, parsed, []);
}

function lostBelow(given: unknown, parsed: unknown, path: readonly (string | number)[]): readonly Problem[] {
  if (Array.isArray(given) && Array.isArray(parsed)) {
    return given.flatMap((item, index) => lostBelow(item, parsed[index], [...path, index]));
  }
  if (!isPlainObject(given) || !isPlainObject(parsed)) return [];
  return Object.entries(given).flatMap(([name, value]): readonly Problem[] => {
    const inner = [...path, name];
    if (Object.hasOwn(parsed, name)) return lostBelow(value, parsed[name], inner);
    return value === null || value === undefined ? [] : [{ path: formatPath(inner), message: 'unknown field' }];
  });
}
