import { ClusterRole, ConfigMap, Deployment, defineResource, Secret, Type } from '@keelson/schema';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { apply, type Decision } from './decision.ts';
import { defineLifecycle } from './lifecycle.ts';
import { defineOperator, type Operator } from './operator.ts';

const Website = defineResource({
  group: 'example.io',
  version: 'v1',
  kind: 'Website',
  scope: 'Namespaced',
  description: 'A website.',
  spec: Type.Object({ replicas: Type.Integer() }),
  status: Type.Object({ phase: Type.Optional(Type.String()) }),
});
const reconcile = () => apply<typeof Website>({ objects: [] });
const relate = () => ['all' as const];
const base = { name: 'website', resource: Website, owns: [ConfigMap], reconcile };

describe('defineOperator', () => {
  it('fills in the defaults', () => {
    const operator = defineOperator({ ...base, owns: [ConfigMap, { kind: Secret, anywhere: true }] });
    expect(operator).toMatchObject({
      fieldManager: 'website-operator',
      owns: [{ kind: ConfigMap }, { kind: Secret, anywhere: true }],
      watches: [],
      reads: [],
      effects: {},
      concurrency: 4,
      resync: '10m',
      finalizeDeadline: '10m',
      observeTimeout: '30s',
    });
    expect(Object.isFrozen(operator)).toBe(true);
  });

  it('types the rules by the resource and by what observe returns, and every operator is an Operator', () => {
    const operator = defineOperator({
      name: 'website',
      resource: Website,
      owns: [],
      observe: async ({ self }) => ({ replicas: self.spec.replicas }),
      reconcile: ({ self, external }) => {
        expectTypeOf(self.spec.replicas).toEqualTypeOf<number>();
        expectTypeOf(external).toEqualTypeOf<{ replicas: number }>();
        return apply({ objects: [], status: { phase: 'Up' } });
      },
    });
    expectTypeOf(operator).toExtend<Operator>();
    // @ts-expect-error a field that the status does not have does not compile
    const wrong = (): Decision<typeof Website> => apply({ objects: [], status: { color: 1 } });
    expect(wrong().kind).toBe('apply');
  });

  it.each([
    ['a name that is no label', { name: 'Web Site' }, /^operator 'Web Site': name must be lower-case letters/],
    ['a field manager that is too long', { fieldManager: 'x'.repeat(64) }, /fieldManager 'x+' must be at most 63/],
    ['a finalizer without a domain', { finalizer: 'cleanup' }, /finalizer 'cleanup' must be a domain of yours/],
    ['a kind twice', { owns: [ConfigMap, { kind: ConfigMap, anywhere: true }] }, /owns configmaps twice/],
    ['its own resource', { owns: [Website] }, /owns its own resource websites\.example\.io/],
    [
      'anywhere for a cluster-scoped kind',
      { owns: [{ kind: ClusterRole, anywhere: true }] },
      /clusterroles\.rbac\.authorization\.k8s\.io with anywhere, but it is cluster-scoped/,
    ],
    ['a read without a reason', { reads: [{ kind: Secret, why: ' ' }] }, /reads secrets without saying why/],
    ['a kind of no names', { owns: [{ kind: Secret, names: [] }] }, /owns secrets with an empty list of names/],
    ['a read of no names', { reads: [{ kind: Secret, names: [], why: 'x' }] }, /empty list of names/],
    [
      'a namespace for a cluster-scoped kind',
      { reads: [{ kind: ClusterRole, namespace: 'a', why: 'x' }] },
      /leave the namespace out/,
    ],
    [
      'rules that are async',
      { reconcile: async () => apply({ objects: [] }) },
      /reconcile is async, but it must be pure: read in observe/,
    ],
    [
      'a handler that is no function',
      { effects: { template: 'x' } },
      /effects\.template must be a function: make it with defineEffect/,
    ],
    [
      'fields beside metadataOnly',
      { watches: [{ kind: Secret, relate, metadataOnly: true, fields: ['type'] }] },
      /watches secrets with both metadataOnly and fields: choose one/,
    ],
    ['no field', { watches: [{ kind: Secret, relate, fields: [] }] }, /empty list of fields: write metadataOnly: true/],
    [
      'a field that is held anyway',
      { watches: [{ kind: Secret, relate, fields: ['metadata.labels'] }] },
      /the field 'metadata\.labels': metadata is always held, leave it out/,
    ],
    [
      'a field that is no path',
      { watches: [{ kind: Secret, relate, fields: ['spec.containers[*].name'] }] },
      /the field 'spec\.containers\[\*\]\.name': write names with dots between them/,
    ],
    ['no worker', { concurrency: 0 }, /concurrency must be a whole number of at least 1, not 0/],
    ['a duration that is none', { resync: '10 minutes' }, /resync: '10 minutes' is not a duration: write for example/],
    ['no deadline at all', { finalizeDeadline: '0s' }, /finalizeDeadline must be longer than nothing/],
    [
      'a life cycle in a field that is not there',
      { lifecycle: defineLifecycle({ field: 'state', initial: 'A', states: ['A'], transitions: {} }) },
      /kept in status\.state, which the status of Website does not have/,
    ],
    [
      'a life cycle in a field within a field that is not there',
      { lifecycle: defineLifecycle({ field: 'current.state', initial: 'A', states: ['A'], transitions: {} }) },
      /kept in status\.current\.state, which the status of Website does not have/,
    ],
  ])('refuses %s and says what to do', (_, flaw, message) => {
    expect(() => defineOperator({ ...base, ...(flaw as object) })).toThrow(message);
  });

  it('names every flaw at once', () => {
    expect(() => defineOperator({ ...base, name: 'X', owns: [Deployment, Deployment], concurrency: 1.5 })).toThrow(
      /name must.*deployments\.apps twice.*concurrency/s,
    );
  });
});
