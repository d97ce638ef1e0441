import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PatchOperation } from './json-patch.ts';
import { toJsonPatch } from './json-patch.ts';

/** RFC 6902 for the three operations we use, written for the test: what the API server does with a patch. */
function applied(document: unknown, operations: readonly PatchOperation[]): unknown {
  const root = { '': structuredClone(document) };
  for (const operation of operations) {
    const keys = operation.path.split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = keys.pop() ?? '';
    let parent: unknown = root;
    for (const key of keys) parent = (parent as Record<string, unknown>)[key];
    if (Array.isArray(parent)) {
      if (Number(last) > parent.length - (operation.op === 'add' ? 0 : 1))
        throw new RangeError(`${operation.path} is outside`);
      parent.splice(
        Number(last),
        operation.op === 'add' ? 0 : 1,
        ...(operation.op === 'remove' ? [] : [operation.value]),
      );
    } else {
      const map = parent as Record<string, unknown>;
      if (operation.op !== 'add' && !Object.hasOwn(map, last)) throw new RangeError(`${operation.path} does not exist`);
      if (operation.op === 'remove') delete map[last];
      else
        Object.defineProperty(map, last, {
          value: operation.value,
          enumerable: true,
          configurable: true,
          writable: true,
        });
    }
  }
  return root[''];
}

describe('toJsonPatch', () => {
  it.each<[string, unknown, unknown, PatchOperation[]]>([
    ['nothing, when nothing differs', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
    [
      'a field that is new',
      { image: 'nginx' },
      { image: 'nginx', replicas: 1 },
      [{ op: 'add', path: '/replicas', value: 1 }],
    ],
    [
      'a field that is gone',
      { image: 'nginx', replicas: 1 },
      { image: 'nginx' },
      [{ op: 'remove', path: '/replicas' }],
    ],
    [
      'a field deep inside',
      { a: { b: { c: 1, d: 'stays as it is' } } },
      { a: { b: { c: 2, d: 'stays as it is' } } },
      [{ op: 'replace', path: '/a/b/c', value: 2 }],
    ],
    [
      'an item put before others',
      [{ name: 'second' }],
      [{ name: 'first' }, { name: 'second' }],
      [{ op: 'add', path: '/0', value: { name: 'first' } }],
    ],
    ['an item taken out of the middle', ['a', 'b', 'c', 'd'], ['a', 'c', 'd'], [{ op: 'remove', path: '/1' }]],
    [
      'a field of an item in a list',
      [
        { name: 'web', port: 80 },
        { name: 'api', port: 81 },
      ],
      [
        { name: 'web', port: 8080 },
        { name: 'api', port: 81 },
      ],
      [{ op: 'replace', path: '/0/port', value: 8080 }],
    ],
    [
      'keys with slashes and tildes',
      { 'a/b~c': 'x', other: 'long enough to be kept' },
      { 'a/b~c': 'y', other: 'long enough to be kept' },
      [{ op: 'replace', path: '/a~1b~0c', value: 'y' }],
    ],
    ['another type', { a: [1] }, { a: { '0': 1 } }, [{ op: 'replace', path: '/a', value: { '0': 1 } }]],
  ])('says %s', (_, from, to, operations) => {
    expect(toJsonPatch(from, to)).toEqual(operations);
  });

  it('starts at the path it is given', () => {
    expect(toJsonPatch({ replicas: 1 }, { replicas: 2 }, '/spec')).toEqual([
      { op: 'replace', path: '/spec/replicas', value: 2 },
    ]);
  });

  it('takes an undefined field for an absent one', () => {
    expect(toJsonPatch({ a: 1 }, { a: 1, b: undefined })).toEqual([]);
    expect(
      toJsonPatch({ a: 1, c: 'stays as it is, quite long' }, { a: undefined, c: 'stays as it is, quite long' }),
    ).toEqual([{ op: 'remove', path: '/a' }]);
  });

  it('leads from any value to any other', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'medium' }), fc.jsonValue({ depthSize: 'medium' }), (from, to) => {
        expect(applied(from, toJsonPatch(from, to))).toEqual(to);
      }),
    );
  });

  it('leads from any list to a shuffled and edited one, and never costs more than writing it anew', () => {
    const item = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), port: fc.integer({ min: 0, max: 2 }) });
    fc.assert(
      fc.property(fc.array(item), fc.array(item), (from, to) => {
        const operations = toJsonPatch(from, to);
        expect(applied(from, operations)).toEqual(to);
        expect(JSON.stringify(operations).length).toBeLessThanOrEqual(
          JSON.stringify([{ op: 'replace', path: '', value: to }]).length,
        );
      }),
    );
  });

  it('compares long lists in linear time', () => {
    const from = Array.from({ length: 20_000 }, (_, i) => ({ i }));
    const to = from.map(({ i }) => ({ i: i + 1 }));
    expect(applied(from, toJsonPatch(from, to))).toEqual(to);
  });
});
