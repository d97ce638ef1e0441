import { apply, defineOperator } from '@keelson/runtime';
import { ConfigMap, defineResource, type KubeObject, Type } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { invalidInstance, sortManifests } from './instances.ts';

const resource = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Guard',
  scope: 'Namespaced',
  description: 'A guard.',
  spec: Type.Object({}),
});
const guards = defineOperator({
  name: 'guards',
  resource,
  owns: [],
  watches: [
    { kind: resource, relate: () => [] },
    { kind: ConfigMap, relate: () => [] },
  ],
  reconcile: () => apply({ objects: [] }),
});

const object = (apiVersion: string, kind: string, name: string): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name },
});
const sort = (objects: readonly KubeObject[]) =>
  sortManifests(
    objects.map((one) => ({ object: one, place: 'file.yaml:1' })),
    [guards],
  );
const names = (objects: readonly { readonly object: KubeObject }[]) => objects.map((one) => one.object.metadata.name);

describe('sortManifests', () => {
  it('given an operator that watches its own kind, when sorted, then every instance is one, and sees the others', () => {
    const { instances } = sort([
      object('example.com/v1', 'Guard', 'a'),
      object('v1', 'ConfigMap', 'rules'),
      object('example.com/v1', 'Guard', 'b'),
    ]);
    expect(instances.map(({ manifest, related }) => [manifest.object.metadata.name, names(related)])).toEqual([
      ['a', ['rules', 'b']],
      ['b', ['a', 'rules']],
    ]);
  });

  it('given built-in objects that no operator looks at, when sorted, then they are left out', () => {
    const { instances, others } = sort([
      object('v1', 'Namespace', 'ns'),
      object('v1', 'Secret', 'login'),
      object('example.com/v1', 'Guard', 'a'),
    ]);
    expect(others.map(({ kind }) => kind)).toEqual(['Namespace', 'Secret']);
    expect(instances).toMatchObject([{ related: [] }]);
  });

  it.each([
    ['another version of ours', object('example.com/v2', 'Guard', 'a')],
    ['a kind of somebody else', object('other.io/v1', 'Guard', 'a')],
  ])('given %s, when sorted, then the known kinds are told', (_, unknown) => {
    expect(() => sort([unknown])).toThrow(`file.yaml:1: no operator for Guard (${unknown.apiVersion})`);
  });
});

describe('invalidInstance', () => {
  const manifest = { object: object('example.com/v1', 'Guard', 'a'), place: 'file.yaml:1' };
  it.each([
    [
      ['spec.features[name=osquery].config.intervall'],
      'correct these fields; `keelson explain feature osquery` lists what is allowed',
    ],
    [
      ['spec.global', 'spec.features[name=a].config', 'spec.features[name=a].config.b'],
      'correct these fields; `keelson explain guard` and `keelson explain feature a` list what is allowed',
    ],
    [['spec.features[name=a].enabled'], 'correct these fields; `keelson explain guard` lists what is allowed'],
  ])('given problems at %j, when told, then the remedy is where those fields are explained', (paths, remedy) => {
    const problems = paths.map((path) => ({ path, message: 'is wrong' }));
    expect(invalidInstance(manifest, problems).remedy).toBe(remedy);
  });
});
