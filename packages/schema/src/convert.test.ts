import fc from 'fast-check';
import Type from 'typebox';
import { describe, expect, test } from 'vitest';
import { convertInstance, defineResource, defineVersion } from './index.ts';
import { Tunnel } from './testing/samples.ts';

const old = {
  apiVersion: 'example.com/v1alpha1',
  kind: 'Tunnel',
  metadata: { name: 't', uid: 'u', annotations: { a: 'b' } },
  spec: { address: 'db:5432' },
  status: { state: 'up', observedGeneration: 3 },
};

describe('conversion', () => {
  test('goes to the stored version, and keeps metadata and status', () => {
    expect(convertInstance(Tunnel, old, 'example.com/v1')).toEqual({
      ok: true,
      object: { ...old, apiVersion: 'example.com/v1', spec: { endpoint: { host: 'db', port: 5432 } } },
    });
  });

  test('goes back from it', () => {
    const stored = { ...old, apiVersion: 'example.com/v1', spec: { endpoint: { host: 'db', port: 5432 } } };

    expect(convertInstance(Tunnel, stored, 'example.com/v1alpha1')).toEqual({ ok: true, object: old });
  });

  test('to the same version changes nothing', () => {
    expect(convertInstance(Tunnel, old, 'example.com/v1alpha1')).toEqual({ ok: true, object: old });
  });

  test('goes from one old version to another by way of the stored one', () => {
    const v1 = defineVersion({ name: 'v1', storage: true, spec: Type.Object({ n: Type.Integer() }) });
    const texts = defineVersion({
      name: 'v1alpha1',
      spec: Type.Object({ text: Type.String() }),
      storedAs: v1,
      convert: {
        toStorage: ({ spec }) => ({ spec: { n: Number(spec.text) } }),
        fromStorage: ({ spec }) => ({ spec: { text: String(spec.n) } }),
      },
    });
    const lists = defineVersion({
      name: 'v1beta1',
      spec: Type.Object({ list: Type.Array(Type.Integer()) }),
      storedAs: v1,
      convert: {
        toStorage: ({ spec }) => ({ spec: { n: spec.list[0] ?? 0 } }),
        fromStorage: ({ spec }) => ({ spec: { list: [spec.n] } }),
      },
    });
    const resource = defineResource({
      group: 'example.com',
      kind: 'Number',
      scope: 'Cluster',
      description: 'A number.',
      versions: [v1, texts, lists],
    });

    const result = convertInstance(
      resource,
      { apiVersion: 'example.com/v1alpha1', kind: 'Number', metadata: { name: 'n' }, spec: { text: '7' } },
      'example.com/v1beta1',
    );

    expect(result).toEqual({
      ok: true,
      object: { apiVersion: 'example.com/v1beta1', kind: 'Number', metadata: { name: 'n' }, spec: { list: [7] } },
    });
  });

  test('may change labels and annotations, and nothing else of the metadata', () => {
    const v1 = defineVersion({ name: 'v1', storage: true, spec: Type.Object({}) });
    const v1alpha1 = defineVersion({
      name: 'v1alpha1',
      spec: Type.Object({ lost: Type.String() }),
      storedAs: v1,
      convert: {
        toStorage: ({ metadata, spec }) => ({
          spec: {},
          metadata: { annotations: { ...metadata.annotations, lost: spec.lost } },
        }),
        fromStorage: ({ metadata }) => ({
          spec: { lost: metadata.annotations?.lost ?? '' },
          metadata: { annotations: {} },
        }),
      },
    });
    const resource = defineResource({
      group: 'example.com',
      kind: 'Lossy',
      scope: 'Cluster',
      description: 'Loses a field.',
      versions: [v1, v1alpha1],
    });
    const given = {
      apiVersion: 'example.com/v1alpha1',
      kind: 'Lossy',
      metadata: { name: 'n', uid: 'u' },
      spec: { lost: 'kept' },
    };

    const there = convertInstance(resource, given, 'example.com/v1');
    expect(there).toMatchObject({
      ok: true,
      object: { metadata: { name: 'n', uid: 'u', annotations: { lost: 'kept' } }, spec: {} },
    });
    const back = there.ok ? convertInstance(resource, there.object, 'example.com/v1alpha1') : there;
    expect(back).toMatchObject({ ok: true, object: { spec: { lost: 'kept' } } });
  });

  test.each([
    ['another kind', { ...old, kind: 'Pod' }, 'example.com/v1', 'kind', "must be Tunnel, got 'Pod'"],
    [
      'an unknown version',
      { ...old, apiVersion: 'example.com/v9' },
      'example.com/v1',
      'apiVersion',
      "must be one of example.com/v1alpha1, example.com/v1; got 'example.com/v9'",
    ],
    [
      'an unknown target',
      old,
      'example.com/v9',
      'apiVersion',
      "cannot be converted to 'example.com/v9': Tunnel has example.com/v1alpha1, example.com/v1",
    ],
    ['no object', 3, 'example.com/v1', '', 'must be an object, got 3'],
  ])('%s is a problem, not a throw', (_, object, target, path, message) => {
    expect(convertInstance(Tunnel, object, target)).toEqual({ ok: false, problems: [{ path, message }] });
  });

  test('there and back is where it was, and the given object is left alone', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,9}$/), fc.integer({ min: 1, max: 65_535 }), (host, port) => {
        const given = Object.freeze({
          apiVersion: 'example.com/v1',
          kind: 'Tunnel',
          metadata: { name: 't' },
          spec: Object.freeze({ endpoint: { host, port } }),
        });
        const there = convertInstance(Tunnel, given, 'example.com/v1alpha1');
        expect(there.ok && convertInstance(Tunnel, there.object, 'example.com/v1')).toEqual({
          ok: true,
          object: given,
        });
      }),
    );
  });
});
