/** Plain JSON values of unknown shape, and how a place in them is written. */

export type PlainMap = Readonly<Record<string, unknown>>;

/** A JSON object, not a list. */
export function isMap(value: unknown): value is PlainMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The path of a field or an item below a path: `spec.containers[0]`, `metadata.labels["a/b"]`. */
export function below(path: string, part: string | number): string {
  if (typeof part === 'number') return `${path}[${part}]`;
  if (!/^[A-Za-z_$][\w$-]*$/.test(part)) return `${path}[${JSON.stringify(part)}]`;
  return path === '' ? part : `${path}.${part}`;
}
