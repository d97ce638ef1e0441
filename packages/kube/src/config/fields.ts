/** Reads a parsed YAML mapping field by field; what has the wrong type is a `BadConfig` fault that names file and path. */
import { Fault } from '../fault.ts';

export class Fields {
  readonly file: string;
  readonly path: string;
  readonly #value: Readonly<Record<string, unknown>>;

  constructor(file: string, path: string, value: unknown) {
    this.file = file;
    this.path = path;
    if (value === null || value === undefined) this.#value = {};
    else if (typeof value === 'object' && !Array.isArray(value)) this.#value = value as Record<string, unknown>;
    else throw this.#wrong(path === '' ? 'the file' : path, 'a mapping');
  }

  string(name: string): string | undefined {
    const value = this.#value[name];
    if (value === undefined || value === null || value === '') return undefined;
    // YAML reads an unquoted 1234 or true as a number or boolean; as a token or name it was meant as text.
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    if (typeof value !== 'string') throw this.#wrong(this.at(name), 'a string');
    return value;
  }

  boolean(name: string): boolean {
    const value = this.#value[name];
    if (value === undefined || value === null) return false;
    if (typeof value !== 'boolean') throw this.#wrong(this.at(name), 'true or false');
    return value;
  }

  strings(name: string): string[] {
    const value = this.#value[name];
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
      throw this.#wrong(this.at(name), 'a list of strings');
    }
    return value;
  }

  fields(name: string): Fields | undefined {
    const value = this.#value[name];
    return value === undefined || value === null ? undefined : new Fields(this.file, this.at(name), value);
  }

  list(name: string): Fields[] {
    const value = this.#value[name];
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw this.#wrong(this.at(name), 'a list');
    return value.map((item, index) => new Fields(this.file, `${this.at(name)}[${index}]`, item));
  }

  keys(): string[] {
    return Object.keys(this.#value);
  }

  raw(name: string): unknown {
    return this.#value[name];
  }

  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  #wrong(what: string, expected: string): Fault {
    return new Fault('BadConfig', `kubeconfig ${this.file}: ${what} must be ${expected}`);
  }
}
