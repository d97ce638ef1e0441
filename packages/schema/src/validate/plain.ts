/** Plain data: what survives JSON. Everything the validation hands out is a frozen copy made of it. */
import { note, type Report } from './report.ts';

const maxDepth = 1_000;

/** True for an object that is only a bag of fields (of any realm), false for dates, maps, promises and the like. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Sets an own field, also one called `__proto__`. */
export function put(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  else target[name] = value;
}

/** A frozen copy of free-form data; what is not plain data is noted. */
export function copyPlain(value: unknown, report: Report): unknown {
  if (report.budget <= 0) return null;
  report.budget -= 1;
  if (report.path.length > maxDepth) {
    note(report, `is nested deeper than ${maxDepth} levels, or refers to itself`);
    report.budget = 0;
    return null;
  }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value === 0 ? 0 : value;
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    for (let index = 0; index < value.length; index += 1) {
      report.path.push(index);
      copy.push(copyPlain(value[index] ?? null, report));
      report.path.pop();
    }
    return Object.freeze(copy);
  }
  if (isPlainObject(value)) {
    const copy: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      if (value[name] === undefined) continue;
      report.path.push(name);
      put(copy, name, copyPlain(value[name], report));
      report.path.pop();
    }
    return Object.freeze(copy);
  }
  note(
    report,
    `must be plain data (JSON), got ${typeof value === 'object' ? 'an instance of a class' : typeof value === 'number' ? String(value) : `a ${typeof value}`}`,
  );
  return null;
}
