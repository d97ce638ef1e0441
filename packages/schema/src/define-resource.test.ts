import Type from 'typebox';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { duration, freeForm } from './fields.ts';
import {
  type Condition,
  type Duration,
  defineResource,
  defineVersion,
  type Instance,
  type Kind,
  type KubeObject,
  type Resource,
} from './index.ts';
import { localRef } from './pod-fields.ts';
import { type Everything, Tunnel, Website } from './testing/samples.ts';

const head = {
  group: 'example.com',
  kind: 'Website',
  version: 'v1',
  scope: 'Namespaced',
  description: 'A web site.',
} as const;
const spec = Type.Object({ host: Type.String(), replicas: Type.Integer({ default: 1 }) });
const status = Type.Object({ ready: Type.Integer() });

describe('a resource', () => {
  test('gets its names from its kind', () => {
    const resource = defineResource({ ...head, kind: 'SecurityPolicy', spec });

    expect(resource).toMatchObject({
      plural: 'securitypolicies',
      singular: 'securitypolicy',
      listKind: 'SecurityPolicyList',
      version: 'v1',
    });
  });

  test('is a kind, frozen, with one stored version', () => {
    expect(Object.isFrozen(Website)).toBe(true);
    expect(Tunnel.version).toBe('v1');
    expectTypeOf(Website).toExtend<Kind>();
    expectTypeOf(Website).toExtend<Resource>();
  });

  test('types its instances', () => {
    type Self = Instance<typeof Website>;
    expectTypeOf<Self['spec']['replicas']>().toEqualTypeOf<number>();
    expectTypeOf<Self['spec']['pages']>().toEqualTypeOf<Record<string, string>>();
    expectTypeOf<NonNullable<Self['spec']['tls']>>().toEqualTypeOf<
      ({ secretRef: { name: string } } & { issuer?: never }) | ({ issuer: string } & { secretRef?: never })
    >();
    expectTypeOf<NonNullable<Self['status']>['readyReplicas']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<NonNullable<Self['status']>['conditions']>().toEqualTypeOf<Condition[] | undefined>();
    expectTypeOf<Self>().toExtend<KubeObject>();
    expectTypeOf<Instance<typeof Everything>['spec']['choice']>().toEqualTypeOf<'small' | 'large'>();
    expectTypeOf<Instance<typeof Everything>['spec']['maybe']>().toEqualTypeOf<string | null | undefined>();
    expectTypeOf<Instance<typeof Everything>['spec']['nested']['deeper']['name']>().toEqualTypeOf<string>();
    expectTypeOf<Instance<typeof Tunnel>['spec']['endpoint']['port']>().toEqualTypeOf<number>();
    expectTypeOf<NonNullable<Instance<typeof Tunnel>['status']>['state']>().toEqualTypeOf<string | undefined>();
  });

  test('types fields by what made them', () => {
    const resource = defineResource({
      ...head,
      spec: Type.Object({
        ttl: duration({ default: '2h' }),
        config: Type.Optional(freeForm<{ a: number }>()),
        ref: localRef(),
      }),
    });

    expectTypeOf<Instance<typeof resource>['spec']>().toEqualTypeOf<{
      ttl: Duration;
      config?: { a: number };
      ref: { name: string };
    }>();
    expectTypeOf<Instance<typeof resource>['status']>().toExtend<{ observedGeneration?: number } | undefined>();
  });

  test('always has observedGeneration and conditions in its status', () => {
    const properties = Website.versions[0]?.schema.properties?.status?.properties;

    expect(properties?.observedGeneration).toMatchObject({ type: 'integer' });
    expect(properties?.conditions).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    });
    expect(Website.versions[0]?.schema.properties?.status?.required).toBeUndefined();
  });
});

describe('a wrong definition is refused, and told what to do', () => {
  const v1 = { name: 'v1', spec, status } as const;
  const many =
    (...versions: Parameters<typeof defineVersion>[0][]) =>
    () =>
      defineResource({ ...head, versions: versions.map((version) => defineVersion(version)) } as Parameters<
        typeof defineResource
      >[0]);
  const one = (change: object) => () => defineResource({ ...head, spec, status, ...change });
  const cases: [string, () => unknown, RegExp][] = [
    [
      'a group without a dot',
      one({ group: 'example' }),
      /Website: group: 'example' is not an API group\. Use a domain/,
    ],
    ['a reserved group', one({ group: 'apps.k8s.io' }), /reserved for Kubernetes/],
    ['a kind in lower case', one({ kind: 'website' }), /'website' is not a kind\. Write it in CamelCase/],
    ['a plural with capitals', one({ plural: 'Websites' }), /plural: 'Websites' is not a name.*lower-case/],
    ['a short name that kubectl has', one({ shortNames: ['sa'] }), /'sa' is kubectl's short name for serviceaccounts/],
    ['a short name that is the plural', one({ shortNames: ['websites'] }), /'websites' is there twice/],
    ['a short name twice', one({ shortNames: ['web', 'web'] }), /'web' is there twice/],
    ['no description', one({ description: '' }), /description: it is empty/],
    ['a version that is none', one({ version: '1.0' }), /'1\.0' is not a version\. Write v1alpha1/],
    ['a spec that is no object', one({ spec: Type.String() }), /Website v1: spec: a spec must be an object/],
    [
      'a status with conditions',
      one({ status: Type.Object({ conditions: Type.Array(Type.String()) }) }),
      /status\.conditions: every status has this field/,
    ],
    [
      'a field that no CRD can have',
      one({ spec: Type.Object({ pair: Type.Tuple([Type.String()]) }) }),
      /Website v1: spec\.pair: a tuple/,
    ],
    [
      'a rule on an unknown field',
      one({ rules: [{ rule: 'self.spec.hots != ""', message: 'm' }] }),
      /speaks of self\.spec\.hots/,
    ],
    [
      'a default that is not valid',
      one({ spec: Type.Object({ n: Type.Object({ replicas: Type.Integer({ minimum: 1, default: 0 }) }) }) }),
      /spec\.n\.replicas: the default 0 is not valid: must be at least 1, got 0/,
    ],
    [
      'a default with an unknown field',
      one({ spec: Type.Object({ n: Type.Object({ a: Type.Optional(Type.String()) }, { default: { b: 'x' } }) }) }),
      /spec\.n: the default holds the field 'b'/,
    ],
    [
      'a column that leads nowhere',
      one({ columns: [{ name: 'Host', type: 'string', jsonPath: '.spec.hots' }] }),
      /columns\.Host: \.spec\.hots is not in the schema/,
    ],
    [
      'a column of whatever there is that leads nowhere',
      one({ columns: [{ name: 'Host', type: 'string', jsonPath: '.spec.*.host' }] }),
      /columns\.Host: \.spec\.\*\.host is not in the schema/,
    ],
    ['a selectable field of whatever there is', one({ selectableFields: ['.*.host'] }), /selectableFields: \.\*\.host/],
    [
      'a scale path that is no integer',
      one({ scale: { specReplicas: '.spec.host', statusReplicas: '.status.ready' } }),
      /scale\.specReplicas: \.spec\.host is not a field of type integer/,
    ],
    [
      'a scale path of the wrong part',
      one({ scale: { specReplicas: '.spec.replicas', statusReplicas: '.spec.replicas' } }),
      /scale\.statusReplicas/,
    ],
    ['a selectable object', one({ selectableFields: ['.spec'] }), /selectableFields: \.spec is not a string/],
    ['no stored version', many(v1), /no version is the stored one\. Set storage: true/],
    [
      'two stored versions',
      many({ ...v1, storage: true }, { ...v1, name: 'v2', storage: true }),
      /v1 and v2 are both the stored version/,
    ],
    ['a version twice', many({ ...v1, storage: true }, v1), /v1 is there twice/],
    ['no served version', many({ ...v1, storage: true, served: false }), /no version is served/],
    [
      'a version of another shape without conversion',
      many({ ...v1, storage: true }, { name: 'v1alpha1', spec: Type.Object({ host: Type.Integer() }), status }),
      /v1alpha1: spec\.host is not the same as in v1, and no conversion.*toStorage/,
    ],
    [
      'a warning without deprecation',
      many({ ...v1, storage: true, deprecationWarning: 'old' }),
      /only a deprecated version may warn/,
    ],
    [
      'a conversion to the wrong version',
      many({ ...v1, storage: true }, { ...v1, name: 'v1beta1', storedAs: { name: 'v2', spec } }),
      /storedAs names v2, but v1 is stored/,
    ],
  ];
  test.each(cases)('%s', (_, define, message) => {
    expect(define).toThrow(message);
    expect(define).toThrow(TypeError);
  });

  test('versions of the same shape need no conversion, whatever their words and limits', () => {
    const define = many(
      { ...v1, storage: true },
      { ...v1, name: 'v1beta1', spec: Type.Object({ host: Type.String({ maxLength: 9 }), replicas: Type.Integer() }) },
    );

    expect(define).not.toThrow();
  });
});
