/** Makes a copy of what is to be logged that holds no secret and no more than a line can bear. */
const SECRET_NAME =
  /(^|[-_.])(token|password|passwd|secret|authorization|credential|credentials|apikey|api[-_]key|private[-_]?key|client[-_]?key([-_]?data)?)$/i;
const CAMEL_SECRET_NAME = /(Token|Password|Secret|Authorization|Credentials?|ApiKey|PrivateKey|ClientKey(Data)?)$/;
const HIDDEN = '[redacted]';
const DEEPEST = 6;
const LONGEST_TEXT = 4_096;
const LONGEST_LIST = 50;

/** The fields without secrets; errors as plain data with their code, stack and cause. */
export function redact(fields: object): Record<string, unknown> {
  return copyObject(fields, 0);
}

function copy(name: string, value: unknown, depth: number): unknown {
  if (isSecretName(name) && value !== undefined && value !== null && typeof value !== 'boolean') return HIDDEN;
  if (typeof value === 'string') return value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}…` : value;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEEPEST) return '…';
  if (value instanceof Error) return copyError(value, depth);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) {
    const items = value.slice(0, LONGEST_LIST).map((item) => copy('', item, depth + 1));
    return value.length > LONGEST_LIST ? [...items, `… ${value.length - LONGEST_LIST} more`] : items;
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return copy('', value.toJSON(), depth + 1);
  return copyObject(value, depth + 1);
}

function copyObject(value: object, depth: number): Record<string, unknown> {
  const isSecretObject = 'kind' in value && value.kind === 'Secret';
  const result: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    result[name] = isSecretObject && (name === 'data' || name === 'stringData') ? HIDDEN : copy(name, item, depth);
  }
  return result;
}

function copyError(error: Error, depth: number): Record<string, unknown> {
  const { cause, name, message, stack, ...more } = error as Error & Record<string, unknown>;
  const result: Record<string, unknown> = { name, message, ...copyObject(more, depth + 1) };
  if (stack !== undefined) result.stack = stack;
  if (cause !== undefined) result.cause = copy('cause', cause, depth + 1);
  return result;
}

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) || CAMEL_SECRET_NAME.test(name);
}
