/** Paths: where in an object something is, as a person reads it. Made as a chain while walking, written out only for what differs. */
import type { PlainMap } from './value.ts';

export interface Path {
  readonly up: Path | undefined;
  /** As it appears in the text: `.image`, `[name=web]`, `[0]`. */
  readonly text: string;
  /** The field that this step names; '' for members of lists. */
  readonly name: string;
  /** Of an item of an associative list: what tells it from the others. */
  readonly key?: PlainMap;
  /** Of a member of a set: its value, as JSON. */
  readonly member?: string;
}

const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/;

export function field(up: Path | undefined, name: string): Path {
  if (!PLAIN.test(name)) return { up, text: `[${name}]`, name };
  return { up, text: up === undefined ? name : `.${name}`, name };
}

export function index(up: Path, position: number): Path {
  return { up, text: `[${position}]`, name: '' };
}

export function keyed(up: Path, key: PlainMap): Path {
  const text = Object.entries(key)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(',');
  return { up, text: `[${text}]`, name: '', key };
}

/** In words a member of a set is its set. */
export function member(up: Path, value: unknown): Path {
  return { up, text: '', name: '', member: JSON.stringify(value) };
}

/** The order of a list's items, which is a thing of its own beside the items. */
export function order(up: Path): Path {
  return { up, text: ' (order)', name: '' };
}

/** `spec.template.spec.containers[name=web].image` */
export function toText(path: Path): string {
  return (path.up === undefined ? '' : toText(path.up)) + path.text;
}
