/**
 * Keeps what was read from Secrets out of everything that people and logs get to see. It knows every value that passed through
 * it and blots it out of text, also where another system's error message quotes it.
 */
import { type KubeObject, Secret } from '@keelson/schema';
import { redacted } from './plan/because.ts';
import { isMap } from './plan/value.ts';

export interface Redactor {
  /** Takes note of the values in an object, if it is a Secret. */
  learn(object: KubeObject): void;
  /** The text without them, and without passwords in URLs. */
  text(text: string): string;
  /** The same for every text in a plain value. */
  value(value: unknown): unknown;
}

/** Shorter ones ("true", "80") would tear holes into every sentence and are no secrets. */
const SHORTEST_SECRET = 6;

export function createRedactor(): Redactor {
  const secrets = new Set<string>();
  const text = (given: string): string => {
    let clean = given.replace(/(\w+:\/\/)[^\s/@]+@/g, `$1${redacted}@`);
    // The longest first: one may be part of another.
    for (const secret of [...secrets].sort((a, b) => b.length - a.length)) clean = clean.replaceAll(secret, redacted);
    return clean;
  };
  const value = (given: unknown): unknown => {
    if (typeof given === 'string') return text(given);
    if (Array.isArray(given)) return given.map(value);
    if (!isMap(given)) return given;
    return Object.fromEntries(Object.entries(given).map(([key, item]) => [key, value(item)]));
  };
  return {
    text,
    value,
    learn(object) {
      if (object.kind !== Secret.kind || object.apiVersion !== Secret.version || !isMap(object.data)) return;
      for (const encoded of Object.values(object.data)) {
        if (typeof encoded !== 'string') continue;
        const decoded = Buffer.from(encoded, 'base64').toString('utf8').trim();
        for (const form of [encoded, decoded, encodeURIComponent(decoded)]) {
          if (form.length >= SHORTEST_SECRET) secrets.add(form);
        }
      }
    },
  };
}
