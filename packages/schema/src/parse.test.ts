import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { formatProblems, type Instance, parseInstance, parseStatus, toSample } from './index.ts';
import { Everything, Tunnel, Website } from './testing/samples.ts';

const website = (spec: unknown, rest: object = {}): object => ({
  apiVersion: 'example.com/v1alpha1',
  kind: 'Website',
  metadata: { name: 'shop', namespace: 'web' },
  spec,
  ...rest,
});
const everything = (spec: unknown): object => ({
  apiVersion: 'keelson.example.com/v1',
  kind: 'Everything',
  metadata: { name: 'all' },
  spec,
});

function problemsOf(resource: typeof Website | typeof Everything | typeof Tunnel, object: unknown): string {
  const result = parseInstance(resource, object);
  return result.ok ? 'ok' : formatProblems(result.problems);
}

function specOf(spec: unknown): Instance<typeof Everything>['spec'] {
  const result = parseInstance(Everything, everything(spec));
  if (!result.ok) throw new Error(formatProblems(result.problems));
  return result.instance.spec;
}

describe('an object that the server would take', () => {
  test('is defaulted, pruned and deeply frozen, and the given one is left alone', () => {
    const given = website({ host: 'shop.example', pages: { '/': 'hello' }, colour: 'red' }, { extra: 1 });
    const before = structuredClone(given);

    const result = parseInstance(Website, given);

    expect(result).toEqual({
      ok: true,
      instance: { ...website({ host: 'shop.example', pages: { '/': 'hello' }, replicas: 1 }) },
    });
    expect(given).toEqual(before);
    if (result.ok) expectTypeOf(result.instance.spec.replicas).toEqualTypeOf<number>();
    expect(result.ok && isDeeplyFrozen(result.instance)).toBe(true);
  });

  test('may reach its limits', () => {
    for (const replicas of [1, 10]) expect(problemsOf(Website, website({ host: 'h', pages: {}, replicas }))).toBe('ok');
    for (const ratio of [0.001, 1]) expect(problemsOf(Everything, everything({ ratio }))).toBe('ok');
    expect(problemsOf(Everything, everything({ ratio: 0 }))).toBe('spec.ratio: must be more than 0, got 0');
  });

  test('has defaults inside of defaults', () => {
    expect(specOf({})).toEqual({
      choice: 'small',
      on: true,
      period: '30s',
      nested: { depth: 3, deeper: { name: 'x' } },
    });
    expect(specOf({ nested: { deeper: { tag: 't' } } }).nested).toEqual({ depth: 3, deeper: { name: 'x', tag: 't' } });
  });

  test('keeps null only where null is allowed; elsewhere it counts as absent', () => {
    const spec = specOf({ maybe: null, maybeChoice: null, text: null, on: null, counts: { a: null, b: 1 } });

    expect(spec).toMatchObject({ maybe: null, maybeChoice: null, on: true, counts: { b: 1 } });
    expect('text' in spec).toBe(false);
  });

  test('keeps what is free-form, whole', () => {
    const text = '{"a":[1,{"b":null}],"__proto__":{"x":1}}';

    expect(specOf({ config: JSON.parse(text) }).config).toEqual(JSON.parse(text));
    expect(Object.keys(specOf({ config: JSON.parse(text) }).config ?? {})).toEqual(['a', '__proto__']);
  });

  test.each([
    [
      'fields',
      { readyReplicas: 'three', address: 'a', conditions: [{ type: 'Ready' }], observedGeneration: 2 },
      { address: 'a', observedGeneration: 2 },
    ],
    ['all of it', 'gone', undefined],
  ])('loses of a status that the schema no longer knows %s', (_, status, kept) => {
    const result = parseInstance(Website, website({ host: 'h', pages: {} }, { status }));

    expect(result.ok && result.instance.status).toEqual(kept);
  });

  test('may be written in another version', () => {
    const result = parseInstance(Tunnel, {
      apiVersion: 'example.com/v1alpha1',
      kind: 'Tunnel',
      metadata: { name: 't' },
      spec: { address: 'db' },
    });

    expect(result).toMatchObject({
      ok: true,
      instance: { apiVersion: 'example.com/v1', spec: { endpoint: { host: 'db', port: 80 } } },
    });
  });
});

describe('an object that the server would refuse', () => {
  const spec = { host: 'h', pages: {} };
  const cases: [string, object | null | string, string][] = [
    ['no object', 'text', "must be an object, got 'text'"],
    ['nothing', null, 'must be an object, got null'],
    ['another kind', website(spec, { kind: 'Pod' }), "kind: must be Website, got 'Pod'"],
    ['another group', website(spec, { apiVersion: 'v1' }), "apiVersion: must be example.com/v1alpha1; got 'v1'"],
    ['no name', website(spec, { metadata: {} }), 'metadata.name: is required'],
    ['no metadata', website(spec, { metadata: undefined }), 'metadata: is required'],
    [
      'a bad label',
      website(spec, { metadata: { name: 'a', labels: { 'a b': 'x' } } }),
      'metadata.labels["a b"]: must have a key of the form',
    ],
    ['no spec', website(undefined), 'spec: is required'],
    ['too few', website({ ...spec, replicas: 0 }), 'spec.replicas: must be at least 1, got 0'],
    ['too many', website({ ...spec, replicas: 11 }), 'spec.replicas: must be at most 10, got 11'],
    ['a broken number', website({ ...spec, replicas: 1.5 }), 'spec.replicas: must be a whole number, got 1.5'],
    ['no number', website({ ...spec, replicas: Number.NaN }), 'spec.replicas: must be a whole number, got NaN'],
    ['a wrong type', website({ ...spec, pages: { index: 1 } }), 'spec.pages.index: must be a string, got 1'],
    ['a list for an object', website({ ...spec, pages: [] }), 'spec.pages: must be an object, got a list'],
    ['a class', website({ ...spec, pages: new Map() }), 'spec.pages: must be an object, got an object'],
    ['none of two', website({ ...spec, tls: {} }), 'spec.tls: must have exactly one of secretRef, issuer, got none'],
    [
      'both of two',
      website({ ...spec, tls: { issuer: 'a', secretRef: { name: 'b' } } }),
      'spec.tls: must have exactly one of secretRef, issuer, got 2',
    ],
    ['an empty string', website({ ...spec, host: '' }), 'spec.host: must not be empty'],
    ['not a choice', everything({ choice: 'medium' }), "spec.choice: must be one of small, large; got 'medium'"],
    ['a duplicate in a set', everything({ ports: [1, 2, 1] }), 'spec.ports[2]: 1 is there already'],
    [
      'a duplicate in a listMap',
      everything({ features: [{ name: 'a' }, { name: 'b' }, { name: 'a', protocol: 'TCP' }] }),
      "spec.features[2]: an item with name 'a', protocol 'TCP' is there already",
    ],
    ['null in a list', everything({ words: [null] }), 'spec.words[0]: must be a string, got null'],
    ['a variant without its field', everything({ shape: { kind: 'circle' } }), 'spec.shape.radius: is required'],
    [
      'no variant',
      everything({ shape: { kind: 'line' } }),
      "spec.shape.kind: must be one of circle, square; got 'line'",
    ],
    [
      'no duration',
      everything({ period: 'soon' }),
      "spec.period: must be a duration such as 500ms, 30s, 5m or 1h, got 'soon'",
    ],
    [
      'no quantity',
      everything({ resources: { limits: { cpu: 'much' } } }),
      "spec.resources.limits.cpu: must be a quantity such as 500m, 2 or 128Mi, got 'much'",
    ],
    ['no time', everything({ since: 'today' }), "spec.since: must be a time such as 2030-01-31T12:00:00Z, got 'today'"],
    [
      'an embedded object without a kind',
      everything({ object: { apiVersion: 'v1' } }),
      'spec.object.kind: is required',
    ],
    ['a function', everything({ anything: () => 1 }), 'spec.anything: must be plain data (JSON), got a function'],
  ];
  test.each(cases)('%s', (_, object, message) => {
    const resource = Reflect.get(Object(object), 'kind') === 'Everything' ? Everything : Website;

    expect(problemsOf(resource, object)).toContain(message);
  });

  test('all problems are told at once', () => {
    expect(problemsOf(Website, website({ replicas: 0, pages: { a: 1 } })).split('\n')).toHaveLength(3);
  });

  test('data that refers to itself ends', () => {
    const loop: Record<string, unknown> = {};
    loop.one = loop;
    loop.two = loop;

    expect(problemsOf(Everything, everything({ config: loop }))).toContain('refers to itself');
  });
});

describe('a status that is about to be written', () => {
  test('loses what the schema does not have', () => {
    expect(parseStatus(Website, { readyReplicas: 1, color: 'red' })).toEqual({
      ok: true,
      status: { readyReplicas: 1 },
    });
  });

  test('is refused with the path, not silently shortened', () => {
    const conditions = [{ type: 'Ready', status: 'True', reason: 'not one word', message: '' }];
    const result = parseStatus(Website, { readyReplicas: -1, conditions });
    expect(result.ok ? [] : result.problems.map(({ path }) => path)).toEqual([
      'status.readyReplicas',
      'status.conditions[0].reason',
    ]);
  });
});

describe('properties', () => {
  const hostile = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withObjectString: true,
    withSparseArray: true,
    withTypedArray: true,
    withUnicodeString: true,
  });

  test('no input makes it throw', () => {
    fc.assert(fc.property(hostile, (value) => void parseInstance(Website, value)));
    fc.assert(fc.property(hostile, (value) => void parseInstance(Everything, everything(value))));
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom(...Object.keys(Everything.versions[0]?.schema.properties?.spec?.properties ?? {})),
          hostile,
        ),
        (spec) => void parseInstance(Everything, everything(spec)),
      ),
    );
    fc.assert(
      fc.property(
        hostile,
        (value) =>
          void parseInstance(Tunnel, {
            apiVersion: 'example.com/v1alpha1',
            kind: 'Tunnel',
            metadata: value,
            spec: value,
            status: value,
          }),
      ),
    );
  });

  test('what it accepts is plain, frozen, and stays the same when parsed again', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('config', 'anything', 'labels', 'counts', 'words', 'maybe'), fc.jsonValue()),
        (spec) => {
          const first = parseInstance(Everything, everything(spec));
          fc.pre(first.ok);
          expect(isDeeplyFrozen(first.instance)).toBe(true);
          expect(JSON.parse(JSON.stringify(first.instance))).toEqual(first.instance);
          expect(parseInstance(Everything, first.instance)).toEqual(first);
        },
      ),
    );
  });

  test('samples are valid', () => {
    for (const resource of [Website, Everything, Tunnel])
      expect(parseInstance(resource, toSample(resource)).ok).toBe(true);
  });
});

function isDeeplyFrozen(value: unknown): boolean {
  return (
    typeof value !== 'object' ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen))
  );
}
