import Type, { type TSchema } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  exactlyOneOf,
  freeForm,
  immutable,
  int32,
  intOrString,
  listMap,
  nullable,
  setOf,
  withRules,
} from '../fields.ts';
import { exactlyOneNames } from './exactly-one.ts';
import { rewrite } from './rewrite.ts';
import type { StructuralSchema } from './schema.ts';

const place = { subject: 'Website v1', path: 'spec', correlatable: true };

describe('what a CRD says in other words', () => {
  const cases: [string, TSchema, StructuralSchema][] = [
    ['a literal', Type.Literal('a'), { type: 'string', enum: ['a'] }],
    ['an enum', Type.Enum([1, 2]), { type: 'integer', enum: [1, 2] }],
    ['literals', Type.Union([Type.Literal('a'), Type.Literal('b')]), { type: 'string', enum: ['a', 'b'] }],
    ['null', nullable(Type.String({ maxLength: 3 })), { type: 'string', maxLength: 3, nullable: true }],
    [
      'null or literals',
      nullable(Type.Enum(['a', 'b'])),
      { type: 'string', nullable: true, allOf: [{ enum: ['a', 'b'] }] },
    ],
    [
      'exclusive bounds',
      Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
      { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1 },
    ],
    ['the stricter of two bounds', Type.Number({ exclusiveMinimum: 0, minimum: 1 }), { type: 'number', minimum: 1 }],
    ['32 bits', int32({ minimum: 0 }), { type: 'integer', format: 'int32', minimum: 0, maximum: 2147483647 }],
    [
      'a record',
      Type.Record(Type.String(), Type.Boolean()),
      { type: 'object', additionalProperties: { type: 'boolean' } },
    ],
    [
      'closed objects, which are the default',
      Type.Object({ a: Type.String() }, { additionalProperties: false }),
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    ],
    [
      'open objects',
      Type.Object({}, { additionalProperties: true }),
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    ],
    ['anything', Type.Unknown(), { 'x-kubernetes-preserve-unknown-fields': true }],
    [
      'unique scalars',
      Type.Array(Type.String(), { uniqueItems: true }),
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    ],
    [
      'integer or string',
      Type.Union([Type.Integer(), Type.String({ pattern: '^[a-z]+$' })]),
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], pattern: '^[a-z]+$' },
    ],
    [
      'integer or string, named',
      intOrString(),
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    ],
    [
      'one scalar with alternatives',
      Type.Union([Type.String({ pattern: '^a' }), Type.Literal('b')]),
      { type: 'string', anyOf: [{ pattern: '^a' }, { enum: ['b'] }] },
    ],
    ['a template', Type.TemplateLiteral([Type.Literal('a-'), Type.String()]), { type: 'string', pattern: '^a-.*$' }],
    ['a pattern object', Type.String({ pattern: /^a\d$/ }), { type: 'string', pattern: '^a\\d$' }],
    [
      'an intersection',
      Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Optional(Type.String()) })]),
      { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a'] },
    ],
    ['an example', Type.String({ examples: ['x', 'y'] }), { type: 'string', example: 'x' }],
    [
      'a default, which is never missing',
      Type.Object({ a: Type.String({ default: 'x' }), b: Type.String() }),
      { type: 'object', properties: { a: { type: 'string', default: 'x' }, b: { type: 'string' } }, required: ['b'] },
    ],
  ];
  test.each(cases)('%s', (_, schema, expected) => {
    expect(rewrite(schema, place)).toEqual(expected);
  });

  test('objects that a literal tells apart become one object with alternatives', () => {
    const schema = Type.Union([
      Type.Object({ kind: Type.Literal('git'), url: Type.String(), depth: Type.Optional(Type.Integer()) }),
      Type.Object({ kind: Type.Literal('image'), url: Type.String(), tag: Type.String() }),
    ]);

    expect(rewrite(schema, place)).toEqual({
      type: 'object',
      properties: {
        kind: { type: 'string', enum: ['git', 'image'] },
        url: { type: 'string' },
        depth: { type: 'integer' },
        tag: { type: 'string' },
      },
      required: ['kind', 'url'],
      anyOf: [
        { properties: { kind: { enum: ['git'] } } },
        { properties: { kind: { enum: ['image'] } }, required: ['tag'] },
      ],
    });
  });

  test('rules stay on their level', () => {
    const rules = [{ rule: 'self.a != self.b', message: 'a and b must differ' }];
    const schema = Type.Object({ inner: withRules(Type.Object({ a: Type.String(), b: Type.String() }), rules) });

    expect(rewrite(schema, place).properties?.inner?.['x-kubernetes-validations']).toEqual(rules);
  });

  test('what the author wrote is left alone: the result is a copy', () => {
    const fallback = { a: 'x' };
    const result = rewrite(Type.Object({ a: Type.String() }, { default: fallback }), place);

    expect(Object.isFrozen(result.default)).toBe(true);
    expect(Object.isFrozen(fallback)).toBe(false);
  });
});

describe('what a CRD cannot say is refused with its path and a remedy', () => {
  const object = (field: TSchema): TSchema => Type.Object({ foo: Type.Array(Type.Object({ bar: field })) });
  const cases: [string, TSchema, RegExp][] = [
    ['a tuple', Type.Tuple([Type.String()]), /a tuple cannot.*named fields/],
    ['a reference', Type.Ref('Other'), /\$ref cannot.*freeForm/],
    [
      'recursion',
      Type.Cyclic({ Node: Type.Object({ next: Type.Optional(Type.Ref('Node')) }) }, 'Node'),
      /recursion.*freeForm/,
    ],
    [
      'a union of objects',
      Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]),
      /union of objects.*exactlyOneOf/,
    ],
    [
      'a union of an object and a string',
      Type.Union([Type.Object({}), Type.String()]),
      /union of object and string.*exactlyOneOf/,
    ],
    ['a union of lists', Type.Union([Type.Array(Type.String()), Type.Array(Type.Integer())]), /union of array cannot/],
    [
      'variants that disagree',
      Type.Union([
        Type.Object({ k: Type.Literal('a'), x: Type.String() }),
        Type.Object({ k: Type.Literal('b'), x: Type.Integer() }),
      ]),
      /\.bar\.x: the variants.*different schemas/,
    ],
    [
      'a default in one variant',
      Type.Union([
        Type.Object({ k: Type.Literal('a'), x: Type.String({ default: 'y' }) }),
        Type.Object({ k: Type.Literal('b') }),
      ]),
      /\.bar\.x: a default on a field of one variant/,
    ],
    [
      'an intersection that clashes',
      Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ a: Type.Integer() })]),
      /\.bar\.a: the members of an intersection/,
    ],
    ['an intersection of scalars', Type.Intersect([Type.String(), Type.String()]), /an intersection with a string/],
    ['null alone', Type.Null(), /'null' cannot.*Type\.Union/],
    ['a bigint', Type.BigInt(), /'bigint' cannot.*int64/],
    ['a function', Type.Refine(Type.String(), () => true), /Type\.Refine is a function.*withRules/],
    [
      'keys with a pattern',
      Type.Record(Type.String({ pattern: '^[a-z]+$' }), Type.String()),
      /pattern for its keys.*key\.matches/,
    ],
    [
      'fields beside a record',
      Type.Object({ a: Type.String() }, { additionalProperties: Type.String() }),
      /named fields beside a record/,
    ],
    ['a condition', Type.Object({}, { if: Type.Object({}) }), /'if' cannot.*rule/],
    [
      'dependent fields',
      Type.Object({}, { dependentRequired: { a: ['b'] } }),
      /'dependentRequired' cannot.*has\(self\.a\)/,
    ],
    ['an unknown keyword', Type.String({ contentEncoding: 'x' }), /'contentEncoding' cannot/],
    ['a format that is not checked', Type.String({ format: 'uri' }), /format 'uri'.*pattern/],
    ['a lookahead', Type.String({ pattern: '^(?!x)' }), /lookahead.*RE2/],
    ['a pattern with flags', Type.String({ pattern: /a/i }), /flags/],
    ['a broken pattern', Type.String({ pattern: '(' }), /not a regular expression/],
    ['an enum of several types', Type.Enum(['a', 1]), /several types/],
    ['a default of null', nullable(Type.String(), { default: null }), /default of null/],
    ['a set of objects', setOf(Type.Object({ a: Type.String() })), /set of objects.*listMap/],
    ['a listMap without that field', listMap(Type.Object({ a: Type.String() }), ['name']), /key 'name' is not a field/],
    [
      'a listMap with an optional key',
      listMap(Type.Object({ name: Type.Optional(Type.String()) }), ['name']),
      /key 'name' is optional/,
    ],
    ['a listMap of scalars', listMap(Type.String(), ['name']), /must be objects/],
    ['a listMap by an object', listMap(Type.Object({ name: freeForm() }), ['name']), /key 'name' is not a plain value/],
    [
      'a rule on an unknown field',
      withRules(Type.Object({ a: Type.String() }), [{ rule: 'self.b.size() > 0', message: 'm' }]),
      /speaks of self\.b, which is not in the schema/,
    ],
    [
      'a rule that blames an unknown field',
      withRules(Type.Object({ a: Type.String() }), [{ rule: 'self.a != ""', message: 'm', fieldPath: '.b' }]),
      /blames the field \.b/,
    ],
    ['a rule without a message', withRules(Type.String(), [{ rule: 'self != ""', message: ' ' }]), /no message/],
    ['an immutable item of a list', immutable(Type.String()), /oldSelf inside a list.*listMap/],
    [
      'a condition that defines a field',
      Type.Object({ a: Type.String() }, { oneOf: [{ type: 'object' }] }),
      /a condition .* cannot hold 'type'/,
    ],
    ['no schema at all', 'string' as unknown as TSchema, /a schema is expected/],
  ];
  test.each(cases)('%s', (_, schema, message) => {
    expect(() => rewrite(object(schema), place)).toThrow(message);
    expect(() => rewrite(object(schema), place)).toThrow(/^Website v1: spec\.foo\[\]\.bar/);
  });
});

describe('rules are looked at without a CEL compiler', () => {
  const schema = Type.Object({
    'a-b': Type.Optional(Type.String()),
    namespace: Type.Optional(Type.String()),
    list: Type.Optional(Type.Array(Type.Object({ x: Type.String() }))),
    free: Type.Optional(freeForm()),
    map: Type.Optional(Type.Record(Type.String(), Type.String())),
  });
  test.each([
    'has(self.a__dash__b) && self.__namespace__ != ""',
    'self.list.all(item, item.x.startsWith("self.nothing"))',
    "self.free.whatever == 'x'",
    'self.?list[?0].hasValue()',
    "'key' in self.map && self.map.key == 'self.other'",
    'self == oldSelf || oldSelf.list.size() < self.list.size()',
  ])('%s is fine', (rule) => {
    expect(rewrite(withRules(schema, [{ rule, message: 'm' }]), place)['x-kubernetes-validations']).toHaveLength(1);
  });

  test('exactly one of several fields is a rule that both sides understand', () => {
    const result = rewrite(exactlyOneOf({ a: Type.String(), 'b-c': Type.String() }), place);

    expect(result['x-kubernetes-validations']).toEqual([
      {
        rule: '(has(self.a) ? 1 : 0) + (has(self.b__dash__c) ? 1 : 0) == 1',
        message: 'exactly one of a, b-c must be set',
      },
    ]);
    expect(exactlyOneNames(result)).toEqual([['a', 'b-c']]);
  });
});
