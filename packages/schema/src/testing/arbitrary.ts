/** Random objects for a structural schema: mostly right, now and then wrong in a way that a person could be wrong. */
import fc from 'fast-check';
import { exactlyOneNames } from '../structural/exactly-one.ts';
import type { StructuralSchema } from '../structural/schema.ts';

const texts = [
  '',
  'a',
  'b',
  'ab',
  'abcd',
  'a-1',
  'x'.repeat(70),
  '日本語',
  '👩‍👩‍👧',
  '5',
  'true',
  '500m',
  '1Gi',
  '30s',
  'http://a.b/c',
  'A b',
];

const byFormat: Readonly<Record<string, readonly string[]>> = {
  'date-time': [
    '2030-01-31T12:00:00Z',
    '2030-01-31t12:00:00.5+01:00',
    '2030-01-31T24:00:00Z',
    '2030-02-30T12:00:00Z',
    '2030-01-31',
    '2030-01-31T12:00:00',
    '2030-01-31T12:00Z',
    'T',
    '2030-01-31T12:00:60Z',
  ],
  date: ['2030-01-31', '2024-02-29', '2023-02-29', '2030-13-01', '30-01-31', '2030-1-1', '0000-01-01'],
  ipv4: ['10.0.0.1', '256.0.0.1', '010.0.0.1', '1.2.3', '::ffff:1.2.3.4', '::1', '1.2.3.4.5', ''],
  ipv6: [
    '::1',
    '::',
    '2001:db8::1',
    '2001:db8::1::2',
    '1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7::',
    '::ffff:1.2.3.4',
    '12345::',
    '10.0.0.1',
    ':::',
    '1:2:3:4:5:6:7:8::',
  ],
  cidr: ['10.0.0.0/8', '10.0.0.0/33', '::/0', '::/129', '10.0.0.0', '10.0.0.0/', '10.0.0.0/08', '1.2.3.4/-1'],
  uuid: [
    '00000000-0000-4000-8000-000000000000',
    '00000000000040008000000000000000',
    '0000000-0000-4000-8000-000000000000',
    'ABCDEF00-0000-4000-8000-00000000000g',
  ],
  byte: ['YQ==', 'YWJj', 'a', 'YQ', '', 'YWI=', '===='],
};

/** A value for the schema. */
export function valueFor(schema: StructuralSchema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 40, arbitrary: rightFor(schema) },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
  );
}

function rightFor(schema: StructuralSchema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined)
    return fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...schema.enum) },
      { weight: 1, arbitrary: fc.constant('not in it') },
    );
  if (schema['x-kubernetes-int-or-string'] === true) return fc.oneof(integerFor(schema), stringFor(schema));
  switch (schema.type) {
    case 'string':
      return stringFor(schema);
    case 'integer':
      return integerFor(schema);
    case 'number':
      return fc.oneof(
        fc.double({ min: 0.001, max: 1 }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom(...edges(schema), 0, 0.5),
      );
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valueFor(schema.items ?? {}), { maxLength: 4 });
    case 'object':
      return objectFor(schema);
    default:
      return fc.jsonValue({ maxDepth: 3 });
  }
}

function stringFor(schema: StructuralSchema): fc.Arbitrary<string> {
  const right =
    schema.pattern === undefined
      ? fc.constantFrom('a', 'b', 'ab', 'abcd')
      : fc.stringMatching(new RegExp(schema.pattern));
  const examples = byFormat[schema.format ?? ''];
  return fc.oneof(
    { weight: 6, arbitrary: examples === undefined ? right : fc.constantFrom(...examples) },
    { weight: 1, arbitrary: fc.constantFrom(...texts) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
  );
}

function integerFor(schema: StructuralSchema): fc.Arbitrary<number> {
  const { minimum = -3, maximum = 12 } = schema;
  return fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: Math.max(-3, minimum), max: Math.min(12, maximum) }) },
    { weight: 1, arbitrary: fc.constantFrom(...edges(schema), 0, 2 ** 31, 2 ** 53, -(2 ** 63), 2 ** 63, 1e21, 1.5, 2) },
  );
}

function edges(schema: StructuralSchema): number[] {
  return [schema.minimum, schema.maximum].flatMap((bound) =>
    bound === undefined ? [] : [bound - 1, bound, bound + 1],
  );
}

function objectFor(schema: StructuralSchema): fc.Arbitrary<unknown> {
  const fields = Object.entries(schema.properties ?? {});
  const unknown = fc.dictionary(
    fc.constantFrom('unknown', 'constructor', 'a b', 'metadata'),
    fc.jsonValue({ maxDepth: 1 }),
    { maxKeys: 1 },
  );
  const others =
    schema.additionalProperties === undefined
      ? unknown
      : fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), valueFor(schema.additionalProperties), { maxKeys: 4 });
  const exclusive = exactlyOneNames(schema).flat();
  // Few fields at once, or hardly any object would be right; what is required is there nearly always.
  const known = fields.map(([name, field]) => {
    const [there, absent] = schema.required?.includes(name)
      ? [12, 1]
      : exclusive.includes(name)
        ? [1, 1]
        : [1, Math.min(8, fields.length)];
    return fc.oneof(
      { weight: there, arbitrary: valueFor(field).map((value) => ({ [name]: value })) },
      { weight: absent, arbitrary: fc.constant({}) },
    );
  });
  return fc.tuple(others, ...known).map((parts) => Object.assign({}, ...parts));
}
