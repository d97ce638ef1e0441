import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  defineResource,
  defineShape,
  exactlyOneOf,
  formatProblems,
  freeForm,
  immutable,
  int32,
  listMap,
  parseInstance,
  type Shape,
  Type,
  withRules,
} from './index.ts';

const schema = Type.Object({
  driver: Type.Union([Type.Literal('modern_ebpf'), Type.Literal('kmod')], { default: 'modern_ebpf' }),
  image: Type.Optional(Type.String({ minLength: 1 })),
  rules: Type.Optional(listMap(Type.Object({ name: Type.String(), level: int32({ default: 3 }) }), ['name'])),
  labels: Type.Optional(Type.Record(Type.String(), Type.String())),
  extra: Type.Optional(freeForm()),
  source: Type.Optional(exactlyOneOf({ file: Type.String(), inline: Type.String() })),
});
const config = defineShape(schema, 'falco config');

function problemsOf(value: unknown, path?: string): string {
  const result = config.parse(value, path);
  return result.ok ? 'ok' : formatProblems(result.problems);
}

describe('a value that fits', () => {
  test('is defaulted, typed and deeply frozen, and the given one is left alone', () => {
    const given = { rules: [{ name: 'a' }] };

    const result = config.parse(given);

    expect(result).toEqual({ ok: true, value: { driver: 'modern_ebpf', rules: [{ name: 'a', level: 3 }] } });
    expect(given).toEqual({ rules: [{ name: 'a' }] });
    if (!result.ok) throw new Error('it fits');
    expectTypeOf(result.value.driver).toEqualTypeOf<'modern_ebpf' | 'kmod'>();
    expectTypeOf(config).toExtend<Shape<{ driver: 'modern_ebpf' | 'kmod' }>>();
    expect(Object.isFrozen(result.value) && Object.isFrozen(result.value.rules?.[0])).toBe(true);
  });

  test.each([undefined, null, {}])('may be nothing at all: %s', (nothing) => {
    expect(config.parse(nothing)).toEqual({ ok: true, value: { driver: 'modern_ebpf' } });
  });

  test('given nothing, is the default of the whole', () => {
    const whole = defineShape(
      Type.Object({ a: Type.String(), b: int32({ default: 2 }) }, { default: { a: 'x' } }),
      's',
    );

    expect(whole.parse(undefined)).toEqual({ ok: true, value: { a: 'x', b: 2 } });
    expect(whole.parse({})).toMatchObject({ ok: false, problems: [{ path: 'a', message: 'is required' }] });
  });

  test('keeps what is free-form', () => {
    expect(config.parse({ extra: { any: { thing: [1] } } })).toMatchObject({
      ok: true,
      value: { extra: { any: { thing: [1] } } },
    });
  });
});

describe('a value that does not fit', () => {
  test('is told with full paths below the place where it stands, all problems at once', () => {
    const given = {
      driver: 'mod',
      rules: [
        { name: 'a', levle: 3 },
        { name: 'b', level: 'x' },
      ],
      imgae: 'i',
    };

    expect(problemsOf(given, 'spec.features[1].config')).toBe(
      [
        "spec.features[1].config.driver: must be one of modern_ebpf, kmod; got 'mod'",
        "spec.features[1].config.rules[1].level: must be a whole number, got 'x'",
        'spec.features[1].config.rules[0].levle: unknown field',
        'spec.features[1].config.imgae: unknown field',
      ].join('\n'),
    );
  });

  test('is told at the place itself when all of it is wrong', () => {
    expect(problemsOf('x', 'spec.config')).toBe("spec.config: must be an object, got 'x'");
    expect(problemsOf(['x'])).toBe('must be an object, got a list');
  });

  test('has paths that can be read, also below names that are no words', () => {
    expect(problemsOf({ labels: { 'a.b/c': 1 }, 'x.y': 1 }, 'config')).toBe(
      'config.labels["a.b/c"]: must be a string, got 1\nconfig["x.y"]: unknown field',
    );
  });

  test('is told where exactly one is demanded: the one rule that needs no server', () => {
    expect(problemsOf({ source: {} })).toBe('source: must have exactly one of file, inline, got none');
  });
});

describe('a definition', () => {
  test('is refused when a server would be needed to check it, with the place', () => {
    const ruled = Type.Object({
      list: Type.Array(withRules(Type.Object({ a: Type.String() }), [{ rule: 'self.a != ""', message: 'm' }])),
    });

    expect(() => defineShape(ruled, 'falco config')).toThrow(
      'falco config: list[]: only an API server evaluates rules. Say it in the schema, or check it in the operator.',
    );
    expect(() => defineShape(Type.Object({ a: immutable(Type.String()) }), 's')).toThrow(/^s: a: /);
  });

  test.each([
    [Type.String(), 's: a shape must be an object'],
    [Type.Object({ a: Type.Tuple([Type.String()]) }), 's: a: a tuple cannot be expressed in a CRD'],
    [Type.Object({ a: int32({ default: 3, maximum: 2 }) }), 's: a: the default 3 is not valid'],
  ])('is refused when it could not stand in a CRD either: %#', (bad, message) => {
    expect(() => defineShape(bad, 's')).toThrow(message);
  });
});

test('given any value, a shape says what a resource with the same schema as its spec says', () => {
  const resource = defineResource({
    group: 'example.com',
    kind: 'Config',
    version: 'v1',
    scope: 'Namespaced',
    description: 'A config.',
    spec: schema,
  });
  const value = fc.record(
    {
      driver: fc.constantFrom('kmod', 'mod', null, 1),
      image: fc.constantFrom('', 'i', 2),
      rules: fc.array(fc.record({ name: fc.constantFrom('a', 'b'), level: fc.constantFrom(1, 'x', null) })),
      labels: fc.dictionary(fc.string(), fc.constantFrom('v', 1, null)),
      extra: fc.object(),
      source: fc.record({ file: fc.string(), inline: fc.string() }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(value, (spec) => {
      const shape = config.parse(spec, 'spec');
      const whole = parseInstance(resource, {
        apiVersion: 'example.com/v1',
        kind: 'Config',
        metadata: { name: 'c' },
        spec,
      });
      if (whole.ok) expect(shape).toEqual({ ok: true, value: whole.instance.spec });
      else expect(shape).toEqual({ ok: false, problems: whole.problems });
    }),
  );
});
