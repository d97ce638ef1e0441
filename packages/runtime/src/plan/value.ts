/** Plain values: equality and identity as the API server sees them. Used by everything that compares. */
import { hash } from 'node:crypto';

export type PlainMap = Readonly<Record<string, unknown>>;

/** A JSON object, not a list. */
export function isMap(value: unknown): value is PlainMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Not there: null says the same as nothing. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** `{}` or `[]`: what the server may store as nothing at all. */
export function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (!isMap(value)) return false;
  for (const _ in value) return false;
  return true;
}

/** What Go calls the zero value of a scalar: false, 0, "". */
export function isZero(value: unknown): boolean {
  return value === false || value === 0 || value === '';
}

/** Deep equality of JSON values; the order of keys does not matter, an undefined field is an absent one. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  }
  if (!isMap(a) || !isMap(b)) return false;
  for (const key in a) if (!isSame(a[key], b[key])) return false;
  for (const key in b) if (a[key] === undefined && b[key] !== undefined) return false;
  return true;
}

/** A short identity of a JSON value: equal values have equal digests, whatever the order of their keys. */
export function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value, sortKeys) ?? 'undefined', 'base64url');
}

function sortKeys(_key: string, value: unknown): unknown {
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A copy without what means nothing in an apply: undefined and null fields. Members of lists stay as they are. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isMap(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined && item !== null) copy[key] = withoutNulls(item);
  }
  return copy;
}

/** Freezes a value and everything in it, but for bytes, which cannot be; what is frozen already is taken as frozen throughout. */
export function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const item of Object.values(value)) freeze(item);
  return value;
}
