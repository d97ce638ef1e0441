/**
 * The text of a file that may be replaced at any time (a projected token, a rotated certificate). Looked at again at most
 * every `checkEveryMs`; a file that vanishes for a moment (an atomic swap) leaves the last good text in place.
 */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import { Fault } from '../fault.ts';

const defaultCheckMs = 10_000;

export class RotatingFile {
  readonly file: string;
  readonly #clock: Clock;
  readonly #checkEveryMs: number;
  #text: string | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(file: string, clock: Clock, checkEveryMs = defaultCheckMs) {
    this.file = file;
    this.#clock = clock;
    this.#checkEveryMs = checkEveryMs;
  }

  /** The current text; `force` looks at the file even if that was done a moment ago. */
  async read(force = false): Promise<string> {
    const now = this.#clock.monotonic();
    if (this.#text !== undefined && !force && now - this.#checkedAt < this.#checkEveryMs) return this.#text;
    this.#checkedAt = now;
    try {
      // The files are a few kilobytes, so reading is as cheap as a stat and cannot be fooled by timestamps.
      this.#text = await readFile(this.file, 'utf8');
    } catch (error) {
      if (this.#text === undefined) {
        throw new Fault(
          'CredentialsFailed',
          `${this.file} cannot be read: check that it exists and its permissions`,
          {},
          error,
        );
      }
    }
    return this.#text;
  }
}
