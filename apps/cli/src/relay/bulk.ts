/** A request to `_bulk` and its answer as values: what was sent, line by line, and what the store says of each document. Pure but for (de)compression. */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

export interface Bulk {
  /** Below the URL of the store, with the query: `/_bulk?filter_path=…`. */
  readonly path: string;
  readonly body: Buffer;
  /** Whether the body is compressed. */
  readonly gzip: boolean;
  /** Value of the header of that name; it is passed on and never looked at. */
  readonly authorization?: string;
}

/** One document and what is to be done with it: two lines, without their ends. */
export interface Operation {
  readonly action: string;
  readonly source: string;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** What the store says of one document. */
export interface Item {
  readonly _index?: string;
  readonly _id?: string;
  readonly status: number;
  readonly error?: {
    readonly type?: string;
    readonly reason?: string;
    readonly caused_by?: { readonly reason?: string };
  };
}

/** An item with the word before it: `create`. */
export type NamedItem = readonly [action: string, item: Item];

/** What the exporter asks for, and what we need of it. */
const FIELDS = [
  'errors',
  ...['_index', '_id', 'status', 'failure_store', 'error.type', 'error.reason', 'error.caused_by.reason'].map(
    (field) => `items.*.${field}`,
  ),
].join(',');

/** The path of a request with the fields that we need in its answer. */
export function withFields(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://store');
  searchParams.set('filter_path', FIELDS);
  return `${pathname}?${searchParams}`;
}

/** The documents of a request, in their order. */
export async function operationsOf({ body, gzip: compressed }: Bulk): Promise<readonly Operation[]> {
  const lines = (compressed ? await promisify(gunzip)(body) : body).toString().split('\n');
  const operations: Operation[] = [];
  // The last line ends, so that nothing follows it.
  for (let at = 0; at + 1 < lines.length; at += 2)
    operations.push({ action: lines[at] ?? '', source: lines[at + 1] ?? '' });
  return operations;
}

/** A request with other documents, sent as the same user. */
export async function bulkOf(
  operations: readonly Operation[],
  { path, authorization }: Omit<Bulk, 'body' | 'gzip'>,
): Promise<Bulk> {
  const text = operations.map(({ action, source }) => `${action}\n${source}\n`).join('');
  // The least effort: it is for what is refused, and within a cluster.
  const body = await promisify(gzip)(text, { level: 1 });
  return { path, body, gzip: true, ...(authorization === undefined ? {} : { authorization }) };
}

/** What the store says of each document; undefined when it is no store that speaks. */
export function itemsOf({ body }: Answer): readonly NamedItem[] | undefined {
  try {
    const { items } = JSON.parse(body) as { items?: readonly Readonly<Record<string, Item>>[] };
    const named = items?.map((item) => Object.entries(item)[0]);
    return named?.every((one) => typeof one?.[1]?.status === 'number') ? (named as NamedItem[]) : undefined;
  } catch {
    return undefined;
  }
}

/** The answer that says this of each document. */
export function answerOf(items: readonly NamedItem[]): Answer {
  const errors = items.some(([, { status }]) => status >= 300);
  return { status: 200, body: JSON.stringify({ errors, items: items.map(([action, item]) => ({ [action]: item })) }) };
}
