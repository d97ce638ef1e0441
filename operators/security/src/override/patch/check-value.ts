/**
 * Checks a piece of a pod before a server sees it: types, required fields, items that no list may hold twice, and fields of which only
 * one may be set. What only a server can judge (names, ranges, policies) is left to it.
 */
import type { Problem } from '@keelson/schema';
import type { FieldType, ObjectType } from './field-type.ts';
import { below, isMap, type PlainMap } from './plain.ts';
import { podFields } from './pod-fields.ts';
import { mustBe, scalarOf } from './scalar.ts';
import { unionProblems } from './unions.ts';
import { unknownField } from './unknown-field.ts';

/** Everything that is wrong with a value of this type; pure, and never throws. */
export function checkValue(value: unknown, type: FieldType, path: string): readonly Problem[] {
  if (typeof type === 'object') return 'map' in type ? checkMap(value, type.map, path) : checkList(value, type, path);
  const scalar = scalarOf(type);
  if (scalar !== undefined) return scalar.fits(value) ? [] : [{ path, message: mustBe(scalar.text, value) }];
  const object = podFields.get(type);
  if (object === undefined) return [];
  return isMap(value) ? checkObject(value, object, type, path) : [{ path, message: mustBe('an object', value) }];
}

function checkMap(value: unknown, type: string, path: string): readonly Problem[] {
  if (!isMap(value)) return [{ path, message: mustBe('an object', value) }];
  return Object.entries(value).flatMap(([name, item]) => checkValue(item, type, below(path, name)));
}

function checkList(
  value: unknown,
  { list, keys }: { readonly list: string; readonly keys?: readonly string[] },
  path: string,
): readonly Problem[] {
  if (!Array.isArray(value)) return [{ path, message: mustBe('a list', value) }];
  const problems = value.flatMap((item: unknown, index) => checkValue(item, list, below(path, index)));
  return problems.length > 0 || keys === undefined ? problems : duplicates(value, keys, path);
}

function duplicates(items: readonly PlainMap[], keys: readonly string[], path: string): readonly Problem[] {
  const seen = new Set<string>();
  return items.flatMap((item, index): readonly Problem[] => {
    // The protocol of a port is the one key that a server fills in.
    const values = keys.map((key) => item[key] ?? (key === 'protocol' ? 'TCP' : null));
    const identity = JSON.stringify(values);
    if (!seen.has(identity)) {
      seen.add(identity);
      return [];
    }
    const what = keys.map((key, at) => `${key} ${String(values[at])}`).join(', ');
    return [{ path: below(path, index), message: `there is already one with ${what}` }];
  });
}

function checkObject(value: PlainMap, object: ObjectType, type: string, path: string): readonly Problem[] {
  const missing = object.required
    .filter((name) => value[name] === undefined || value[name] === null)
    .map((name) => ({ path: below(path, name), message: 'is required' }));
  const wrong = Object.entries(value).flatMap(([name, field]): readonly Problem[] => {
    if (field === undefined || field === null) return [];
    const fieldType = object.fields.get(name);
    if (fieldType === undefined) return unknownField(name, field, object, path);
    return checkValue(field, fieldType, below(path, name));
  });
  return [...missing, ...wrong, ...unionProblems(value, type, path)];
}
