/**
 * How the fields of a pod are typed, as far as merging and checking need to know, and the notation of the table that says so
 * (pod-fields.ts). A line is an object, its fields follow: `name! string` is required, `labels {string}` is a map,
 * `env [EnvVar merge:name keys:name]` is a list that is merged by `name` and holds each name once.
 */

/**
 * The type of a value: `string`, `boolean`, `integer`, `number`, `quantity`, `int-or-string`, `any`, or the name of an object in the
 * table. `mergeKey` says that a strategic merge merges the list by that field of its items (`''`: the items themselves); without
 * it the list is replaced. `keys` are the fields that no two items may share.
 */
export type FieldType =
  | string
  | { readonly map: string }
  | { readonly list: string; readonly mergeKey?: string; readonly keys?: readonly string[] };

export interface ObjectType {
  readonly required: readonly string[];
  readonly fields: ReadonlyMap<string, FieldType>;
}

/** The objects by their names. */
export type FieldTable = ReadonlyMap<string, ObjectType>;

/** Reads the notation. */
export function parseFieldTable(text: string): FieldTable {
  return new Map(
    text
      .trim()
      .split('\n')
      .map((line) => {
        const [name = '', fields = ''] = line.split(': ');
        return [name, parseObject(fields)];
      }),
  );
}

function parseObject(text: string): ObjectType {
  const fields = text
    .split(', ')
    .filter((field) => field !== '')
    .map((field) => {
      const [name = '', ...words] = field.split(' ');
      return { name: name.replace('!', ''), required: name.endsWith('!'), type: parseType(words.join(' ')) };
    });
  return {
    required: fields.filter(({ required }) => required).map(({ name }) => name),
    fields: new Map(fields.map(({ name, type }) => [name, type])),
  };
}

function parseType(text: string): FieldType {
  const inner = text.slice(1, -1);
  if (text.startsWith('{')) return { map: inner };
  if (!text.startsWith('[')) return text;
  const [list = '', ...marks] = inner.split(' ');
  const mark = (name: string): string | undefined =>
    marks.find((one) => one.startsWith(`${name}:`))?.slice(name.length + 1);
  const mergeKey = mark('merge');
  const keys = mark('keys')?.split('+');
  return { list, ...(mergeKey === undefined ? {} : { mergeKey }), ...(keys === undefined ? {} : { keys }) };
}
