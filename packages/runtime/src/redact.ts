/**
 * Keeps what stands in Secrets out of everything that people and logs get to see. It knows every Secret that a turn has to do with
 * (read, owned, related, wanted) and blots its values out of text, also where another system's error message quotes them.
 */
import { type KubeObject, Secret } from '@keelson/schema';
import { marks } from './marks.ts';
import { redacted } from './plan/because.ts';
import { isMap } from './plan/value.ts';

export interface Redactor {
  /** Takes note of the values in an object, if it is a Secret. */
  learn(object: KubeObject): void;
  /** The text without them, and without passwords in URLs. */
  text(text: string): string;
  /** The same for every text in a plain value. */
  value(value: unknown): unknown;
  /** An error of the same class without them: message, stack, causes and whatever else it carries. */
  error<E>(error: E): E;
  /** Runs something, and has what it throws go on without them. */
  rethrown<T>(run: () => Promise<T>): Promise<T>;
}

/** Shorter ones ("true", "80") would tear holes into every sentence and are no secrets. */
const SHORTEST_SECRET = 6;
/** Of the lines of a key or a file: shorter ones are more likely its grammar than its secret. */
const SHORTEST_LINE = 16;
const DEEPEST_ERROR = 8;

export function createRedactor(): Redactor {
  const learned = new Set<KubeObject>();
  /** What the learned objects hold, the longest first (one may be part of another); made when it is first needed. */
  let secrets: readonly string[] | undefined;

  const text = (given: string): string => {
    secrets ??= [...new Set([...learned].flatMap(secretsOf))].sort((a, b) => b.length - a.length);
    let clean = given.replace(/(\w+:\/\/)[^\s/@]+@/g, `$1${redacted}@`);
    for (const secret of secrets) clean = clean.replaceAll(secret, redacted);
    return clean;
  };
  const value = (given: unknown): unknown => {
    if (typeof given === 'string') return text(given);
    if (Array.isArray(given)) return given.map(value);
    if (!isMap(given)) return given;
    return Object.fromEntries(Object.entries(given).map(([key, item]) => [key, value(item)]));
  };
  const error = (given: unknown, depth = 0): unknown => {
    if (depth > DEEPEST_ERROR) return redacted;
    if (Array.isArray(given)) return given.map((item) => error(item, depth + 1));
    if (!(given instanceof Error)) {
      if (!isMap(given) || given instanceof Date) return value(given);
      if (ArrayBuffer.isView(given)) return redacted;
      return Object.fromEntries(Object.entries(given).map(([key, item]) => [key, error(item, depth + 1)]));
    }
    // A copy, because an error may be shared (the reason of a signal) or frozen; of its own class, because faults are told apart by it.
    const copy: Error = Object.create(Object.getPrototypeOf(given));
    for (const name of Object.getOwnPropertyNames(given)) {
      const { enumerable = false } = Object.getOwnPropertyDescriptor(given, name) ?? {};
      const clean = error((given as unknown as Record<string, unknown>)[name], depth + 1);
      Object.defineProperty(copy, name, { value: clean, enumerable, writable: true, configurable: true });
    }
    return copy;
  };

  return {
    text,
    value,
    error: <E>(given: E): E => error(given) as E,
    async rethrown(run) {
      try {
        return await run();
      } catch (thrown) {
        throw error(thrown);
      }
    },
    learn(object) {
      if (object.kind !== Secret.kind || object.apiVersion !== Secret.version || learned.has(object)) return;
      learned.add(object);
      secrets = undefined;
    },
  };
}

/** Every form in which a value of a Secret may turn up in a text. */
function secretsOf({ data, stringData, metadata }: KubeObject): string[] {
  const encoded = isMap(data) ? Object.values(data).filter((value) => typeof value === 'string') : [];
  const plain = [
    ...encoded.map((value) => Buffer.from(value, 'base64').toString('utf8')),
    ...(isMap(stringData) ? Object.values(stringData).filter((value) => typeof value === 'string') : []),
  ];
  // A token of a service account comes with the name of its namespace, which is no secret and stands in every message.
  const known = new Set([metadata.name, metadata.namespace]);
  // What stands in our own marks (a user called "keelson") is in every remedy: a hole in there would tell it, and spoil the remedy.
  const isPublic = (value: string): boolean => Object.values(marks).some((mark) => mark.includes(value));
  return plain
    .map((value) => value.trim())
    .filter((value) => !known.has(value) && !isPublic(value))
    .flatMap((value) => [
      value,
      encodeURIComponent(value),
      JSON.stringify(value).slice(1, -1),
      Buffer.from(value).toString('base64'),
      ...value.split(/\r?\n/).filter((line) => line.length >= SHORTEST_LINE),
    ])
    .concat(encoded)
    .filter((form) => form.length >= SHORTEST_SECRET);
}
