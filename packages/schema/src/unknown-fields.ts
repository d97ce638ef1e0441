/** Finds what a schema silently drops: the typing mistakes that the API server forgives a client and kubectl does not. */
import { isPlainObject } from './validate/plain.ts';
import type { Problem } from './validate/report.ts';

/** The fields of `given` that are missing from `parsed`, which `parseInstance` made out of it; nulls are not missed. */
export function unknownFields(given: unknown, parsed: unknown, path = ''): readonly Problem[] {
  if (Array.isArray(given) && Array.isArray(parsed)) {
    return given.flatMap((item, index) => unknownFields(item, parsed[index], `${path}[${index}]`));
  }
  if (!isPlainObject(given) || !isPlainObject(parsed)) return [];
  return Object.entries(given).flatMap(([name, value]): readonly Problem[] => {
    const inner = path === '' ? name : `${path}.${name}`;
    if (Object.hasOwn(parsed, name)) return unknownFields(value, parsed[name], inner);
    return value === null || value === undefined ? [] : [{ path: inner, message: 'unknown field' }];
  });
}
