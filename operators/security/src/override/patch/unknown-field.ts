/**
 * Fields that the table of pods does not know. They may belong to a newer Kubernetes, so they pass, and the server says what it does
 * not know either; but one that is nearly the name of a known field is a typing mistake, and is told here with its path.
 */
import { closest, type Problem } from '@keelson/schema';
import type { ObjectType } from './field-type.ts';
import { below, isMap } from './plain.ts';

/** Nothing in a pod is nested nearly as deep; what is would only exhaust whoever walks through it. */
const MAX_DEPTH = 64;

/** What is wrong with a field that the object does not have. */
export function unknownField(name: string, value: unknown, object: ObjectType, path: string): readonly Problem[] {
  const at = below(path, name);
  const meant = closest(name, object.fields.keys());
  if (meant !== undefined) return [{ path: at, message: `unknown field: did you mean '${meant}'?` }];
  return isDeeperThan(value, MAX_DEPTH) ? [{ path: at, message: `is nested more than ${MAX_DEPTH} levels deep` }] : [];
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (!Array.isArray(value) && !isMap(value)) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(item, levels - 1));
}
