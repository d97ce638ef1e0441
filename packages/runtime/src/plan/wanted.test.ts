import { ClusterRole, ConfigMap, defineKind, type KubeObject, Secret } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { isOperatorBug } from '../bug.ts';
import type { Owner } from '../marks.ts';
import { toWanted } from './wanted.ts';

const Website = defineKind({
  group: 'example.io',
  version: 'v1',
  kind: 'Website',
  plural: 'websites',
  scope: 'Namespaced',
});
const owner: Owner = {
  kind: Website,
  name: 'front',
  namespace: 'shop',
  uid: 'uid-front',
  fieldManager: 'website-operator',
};
const clusterOwner: Owner = {
  kind: { ...Website, scope: 'Cluster' },
  name: 'front',
  uid: 'uid-front',
  fieldManager: 'website-operator',
};
const operator = {
  name: 'website',
  owns: [{ kind: ConfigMap }, { kind: ClusterRole }, { kind: Secret, anywhere: true }],
};
const configMap = (metadata: Record<string, unknown>, more = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, ...more }) as unknown as KubeObject;
const one = (object: KubeObject, by = owner) => toWanted(operator, by, [object])[0];
const reference = {
  apiVersion: 'example.io/v1',
  kind: 'Website',
  name: 'front',
  uid: 'uid-front',
  controller: true,
  blockOwnerDeletion: true,
};

describe('toWanted', () => {
  it('refuses a name that the operator has no permission for', () => {
    const careful = { name: 'website', owns: [{ kind: ConfigMap, names: ['web', 'api'] }] };
    expect(toWanted(careful, owner, [configMap({ name: 'api' })])).toHaveLength(1);
    expect(() => toWanted(careful, owner, [configMap({ name: 'other' })])).toThrow(
      'wants ConfigMap other, but may write web, api alone: add it to names in owns',
    );
  });

  it('puts the marks and a controller reference on a child in the namespace of its owner', () => {
    expect(
      one(configMap({ name: 'web', labels: { app: 'web' }, annotations: { note: 'x' } }, { data: { a: '1' } })),
    ).toEqual({
      kind: ConfigMap,
      reachable: true,
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'web',
          namespace: 'shop',
          labels: {
            app: 'web',
            'keelson.io/operator': 'website-operator',
            'app.kubernetes.io/managed-by': 'website-operator',
            'app.kubernetes.io/part-of': 'shop-front',
            'keelson.io/owner-uid': 'uid-front',
          },
          annotations: { note: 'x', 'keelson.io/owner': 'Website/shop/front' },
          ownerReferences: [reference],
        },
        data: { a: '1' },
      },
    });
  });

  it.each([
    [
      'a cluster-scoped child of a namespaced owner',
      owner,
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'x' } },
      false,
    ],
    [
      'a child in another namespace',
      owner,
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', namespace: 'other' } },
      false,
    ],
    [
      'a namespaced child of a cluster-scoped owner',
      clusterOwner,
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', namespace: 'other' } },
      true,
    ],
    [
      'a cluster-scoped child of a cluster-scoped owner',
      clusterOwner,
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'x' } },
      true,
    ],
  ])('knows whether garbage collection reaches %s', (_, by, object, reachable) => {
    const wanted = one(object, by);
    expect(wanted?.reachable).toBe(reachable);
    expect(wanted?.object.metadata.ownerReferences).toEqual(reachable ? [reference] : undefined);
  });

  it('keeps the part-of label within 63 characters and still different', () => {
    const label = (name: string) =>
      one(configMap({ name: 'x' }), { ...owner, name })?.object.metadata.labels?.['app.kubernetes.io/part-of'];
    const a = label(`${'a'.repeat(80)}1`);
    expect(a).toHaveLength(63);
    expect(a).not.toBe(label(`${'a'.repeat(80)}2`));
  });

  it('drops what an apply must not carry', () => {
    const object = configMap(
      { name: 'web', resourceVersion: '5', uid: 'x', creationTimestamp: null },
      { data: { a: null, b: '1' }, status: { x: 1 } },
    );
    expect(one(object)?.object).toMatchObject({ metadata: { name: 'web' }, data: { b: '1' } });
    expect(Object.keys(one(object)?.object ?? {})).toEqual(['apiVersion', 'kind', 'metadata', 'data']);
    expect(one(object)?.object.metadata).not.toHaveProperty('resourceVersion');
    expect(one(object)?.object.data).toEqual({ b: '1' });
  });

  it('sends a Secret in the form in which it is stored', () => {
    const secret: KubeObject = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      data: { a: 'eA==', b: 'eQ==' },
      stringData: { b: 'z' },
    };
    expect(one(secret)?.object).toMatchObject({ data: { a: 'eA==', b: 'eg==' } });
    expect(one(secret)?.object).not.toHaveProperty('stringData');
  });

  it.each<[string, Owner, KubeObject[], RegExp]>([
    [
      'a kind that is not owned',
      owner,
      [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } }],
      /wants a Pod \(v1\) but does not own that kind: add it to owns/,
    ],
    [
      'another version of an owned kind',
      owner,
      [{ apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'x' } }],
      /ConfigMap \(v2\).*now has ConfigMap \(v1\)/,
    ],
    [
      'the same object twice',
      owner,
      [configMap({ name: 'x' }), configMap({ name: 'x', namespace: 'shop' })],
      /wants ConfigMap shop\/x twice/,
    ],
    ['no name', owner, [configMap({ generateName: 'x-' })], /without metadata.name/],
    [
      'another namespace without anywhere',
      owner,
      [configMap({ name: 'x', namespace: 'other' })],
      /ConfigMap other\/x outside the namespace.*anywhere: true/,
    ],
    [
      'no namespace to inherit',
      clusterOwner,
      [configMap({ name: 'x' })],
      /without a namespace.*set metadata.namespace/,
    ],
  ])('calls %s a bug of the operator and says what to do', (_, by, objects, message) => {
    let thrown: unknown;
    try {
      toWanted(operator, by, objects);
    } catch (error) {
      thrown = error;
    }
    expect(isOperatorBug(thrown) && thrown.message).toMatch(message);
  });
});
