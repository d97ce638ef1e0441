import {
  ClusterRole,
  ConfigMap,
  defineResource,
  type KubeObject,
  manifest,
  Secret,
  Service,
  Type,
} from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { apply, reject } from './decision.ts';
import { unknownUid } from './marks.ts';
import { defineOperator } from './operator.ts';
import { renderInstance } from './render.ts';

const Website = defineResource({
  group: 'example.io',
  version: 'v1',
  kind: 'Website',
  scope: 'Namespaced',
  description: 'A website.',
  spec: Type.Object({ title: Type.String({ minLength: 1 }), port: Type.Optional(Type.Integer({ default: 80 })) }),
});

const operator = defineOperator({
  name: 'website',
  resource: Website,
  owns: [ConfigMap, Service, ClusterRole],
  watches: [{ kind: Secret, relate: ({ metadata }) => [{ name: metadata.name }] }],
  reconcile: ({ self, related, external }) => {
    const { name } = self.metadata;
    if (self.spec.title === 'bad') return reject({ reason: 'BadTitle', message: 'no' });
    return apply({
      objects: [
        manifest(Service, { name }, { spec: { ports: [{ port: self.spec.port ?? 0 }] } }),
        manifest(
          ConfigMap,
          { name },
          {
            data: {
              title: self.spec.title,
              tls: String(related.get(Secret, name) !== undefined),
              external: String(external),
            },
          },
        ),
      ],
    });
  },
  admission: {
    validate: ({ object }) =>
      object.spec.title === 'forbidden'
        ? { problems: [{ path: 'spec.title', message: 'is forbidden' }] }
        : { warnings: ['soon deprecated'] },
    mutate: ({ object }) => ({ ...object.spec, title: object.spec.title?.trim() }),
  },
});
const website = (spec: unknown, metadata: Record<string, unknown> = {}): KubeObject =>
  ({ apiVersion: 'example.io/v1', kind: 'Website', metadata: { name: 'front', ...metadata }, spec }) as KubeObject;

describe('renderInstance', () => {
  it('gives exactly the objects that would be applied: defaulted, admitted, marked, in apply order', () => {
    const { objects, problems, warnings, decision } = renderInstance(
      operator,
      website({ title: ' Shop ' }, { namespace: 'shop' }),
    );
    expect({ problems, warnings, kind: decision?.kind }).toEqual({
      problems: [],
      warnings: ['soon deprecated'],
      kind: 'apply',
    });
    expect(objects.map(({ kind }) => kind)).toEqual(['ConfigMap', 'Service']);
    expect(objects[0]).toMatchObject({
      metadata: {
        name: 'front',
        namespace: 'shop',
        labels: { 'keelson.io/operator': 'website-operator', 'keelson.io/owner-uid': unknownUid },
        ownerReferences: [{ kind: 'Website', name: 'front', uid: unknownUid, controller: true }],
      },
      data: { title: 'Shop', tls: 'false' },
    });
    expect(objects[1]).toMatchObject({ spec: { ports: [{ port: 80 }] } });
  });

  it('takes the namespace that it is given for an instance without one', () => {
    expect(
      renderInstance(operator, website({ title: 'x' }), { namespace: 'blue' }).objects[0]?.metadata.namespace,
    ).toBe('blue');
    expect(renderInstance(operator, website({ title: 'x' })).objects[0]?.metadata.namespace).toBe('default');
  });

  it('lets the operator see what it is given', () => {
    const tls: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'front', namespace: 'default' } };
    const { objects } = renderInstance(operator, website({ title: 'x' }), {
      related: [{ kind: Secret, object: tls }],
      external: 'given' as never,
    });
    expect(objects[0]).toMatchObject({ data: { tls: 'true', external: 'given' } });
  });

  it('shows an operator that watches its own kind the other instances, not the one that is rendered', () => {
    let seen: unknown;
    const social = defineOperator({
      name: 'website',
      resource: Website,
      owns: [],
      watches: [{ kind: Website, relate: () => ['all'] }],
      reconcile: ({ related }) => {
        seen = related.list(Website).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
        return apply({ objects: [] });
      },
    });
    const places = ['default', 'elsewhere'].map((namespace) => website({ title: 'x' }, { namespace }));
    renderInstance(social, website({ title: 'x' }), { related: places.map((object) => ({ kind: Website, object })) });
    expect(seen).toEqual(['elsewhere/front']);
  });

  it.each([
    ['some fields', { fields: ['data.a'] }, { a: 'MQ==' }],
    ['metadata', { metadataOnly: true }, undefined],
  ])('shows it only %s of related objects where its watch holds no more', (_, held, data) => {
    let seen: unknown;
    const narrow = defineOperator({
      name: 'website',
      resource: Website,
      owns: [],
      watches: [{ kind: Secret, relate: () => ['all'], ...held }],
      reconcile: ({ related }) => {
        seen = related.get(Secret, 'front')?.data;
        return apply({ objects: [] });
      },
    });
    const object = manifest(Secret, { name: 'front', namespace: 'default' }, { data: { a: 'MQ==', b: 'Mg==' } });
    renderInstance(narrow, website({ title: 'x' }), { related: [{ kind: Secret, object }] });
    expect(seen).toEqual(data);
  });

  it.each([
    ['the schema', { title: '' }, 'spec.title'],
    ['the schema, for a field that is missing', {}, 'spec.title'],
    ['the operator’s own validation', { title: 'forbidden' }, 'spec.title'],
  ])('names the path of what %s refuses, and decides nothing', (_, spec, path) => {
    const { problems, objects, decision } = renderInstance(operator, website(spec));
    expect(problems.map((problem) => problem.path)).toEqual([path]);
    expect([objects, decision]).toEqual([[], undefined]);
  });

  it('gives the decision when it is not to apply', () => {
    expect(renderInstance(operator, website({ title: 'bad' }))).toMatchObject({
      objects: [],
      decision: { kind: 'reject', reason: 'BadTitle' },
    });
  });

  it('given a field that the schema does not know, refuses it by its path, as kubectl does', () => {
    const { problems, objects } = renderInstance(operator, website({ title: 'x', prot: 80 }));
    expect(problems).toEqual([{ path: 'spec.prot', message: 'unknown field' }]);
    expect(objects).toEqual([]);
  });
});
