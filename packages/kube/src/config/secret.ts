/**
 * A value that must not be printed. Logs, `inspect`, `JSON.stringify` and string concatenation all show `[redacted]`; only
 * `reveal()` gives the value, so that every place that uses a secret can be found by that word.
 */
import { inspect } from 'node:util';

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[redacted]';
  }

  toJSON(): string {
    return '[redacted]';
  }

  [inspect.custom](): string {
    return '[redacted]';
  }
}
