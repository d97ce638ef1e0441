import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigMap, Deployment, Lease, Namespace, Secret } from '../kinds.ts';
import { type Grant, type MergedRule, mergeGrants, type Verb } from './grant.ts';
import { toRbac, whyAnnotation } from './rbac.ts';
import { toRbacReference } from './reference.ts';

const options = { name: 'website-operator', namespace: 'keelson-system' };

describe('merging grants', () => {
  test('joins verbs, resources and reasons, in a stable order', () => {
    const grants: Grant[] = [
      { kind: Deployment, verbs: ['watch', 'get'], why: 'owns Deployments' },
      { kind: Deployment, verbs: ['list'], why: 'caches them' },
      { kind: { group: 'apps', plural: 'daemonsets' }, verbs: ['get', 'list', 'watch'], why: 'owns DaemonSets' },
    ];
    const expected: MergedRule[] = [
      {
        namespace: '',
        group: 'apps',
        resources: ['daemonsets', 'deployments'],
        verbs: ['get', 'list', 'watch'],
        names: [],
        why: ['caches them', 'owns DaemonSets', 'owns Deployments'],
      },
    ];

    expect(mergeGrants(grants)).toEqual(expected);
    expect(mergeGrants([...grants].reverse())).toEqual(expected);
  });

  test('does not repeat by name or in a namespace what is granted anyway', () => {
    const rules = mergeGrants([
      { kind: Secret, verbs: ['get', 'patch'], names: ['a'], why: 'reads its credentials' },
      { kind: Secret, verbs: ['get'], why: 'reads all' },
      { kind: ConfigMap, verbs: ['get', 'list'], why: 'everywhere' },
      { kind: ConfigMap, verbs: ['get', 'create'], namespace: 'x', why: 'in x' },
    ]);

    expect(rules.map(({ namespace, resources, verbs, names }) => ({ namespace, resources, verbs, names }))).toEqual([
      { namespace: '', resources: ['configmaps'], verbs: ['get', 'list'], names: [] },
      { namespace: '', resources: ['secrets'], verbs: ['get'], names: [] },
      { namespace: '', resources: ['secrets'], verbs: ['patch'], names: ['a'] },
      { namespace: 'x', resources: ['configmaps'], verbs: ['create'], names: [] },
    ]);
  });

  test('no names are no grant: RBAC would read an empty list as all of them', () => {
    expect(mergeGrants([{ kind: Secret, verbs: ['get'], names: [], why: 'none' }])).toEqual([]);
  });

  test.each([
    ['no verbs', { kind: Secret, verbs: [], why: 'x' }, /secrets has no verbs/],
    ['no reason', { kind: Deployment, verbs: ['get'], why: ' ' }, /deployments\.apps does not say why/],
    [
      'a verb that has no name',
      { kind: Secret, verbs: ['deletecollection'], names: ['a'], why: 'x' },
      /deletecollection by name/,
    ],
  ] as [string, Grant, RegExp][])('%s is refused', (_, grant, message) => {
    expect(() => mergeGrants([grant])).toThrow(message);
  });

  test('the rules allow what the grants allow: no more, no less, and nothing twice', () => {
    const verbs: Verb[] = ['get', 'list', 'patch', '*'];
    const arbitrary = fc.record(
      {
        kind: fc.constantFrom(
          { group: '', plural: 'secrets' },
          { group: '', plural: 'pods' },
          { group: 'apps', plural: 'deployments' },
        ),
        verbs: fc.uniqueArray(fc.constantFrom(...verbs), { minLength: 1 }),
        names: fc.uniqueArray(fc.constantFrom('a', 'b')),
        namespace: fc.constantFrom('x', 'y'),
        subresource: fc.constantFrom('status'),
        why: fc.constant('because'),
      },
      { requiredKeys: ['kind', 'verbs', 'why'] },
    );
    fc.assert(
      fc.property(fc.array(arbitrary, { maxLength: 8 }), (grants) => {
        const rules = mergeGrants(grants);
        expect(
          allowed(rules.map((rule) => ({ ...rule, names: rule.names.length === 0 ? undefined : rule.names }))),
        ).toEqual(
          allowed(
            grants.map((grant) => ({
              namespace: grant.namespace ?? '',
              group: grant.kind.group,
              resources: [
                grant.subresource === undefined ? grant.kind.plural : `${grant.kind.plural}/${grant.subresource}`,
              ],
              verbs: grant.verbs,
              names: grant.names,
            })),
          ),
        );
        const without = rules.map((_, index) =>
          allowed(
            rules
              .filter((__, other) => other !== index)
              .map((rule) => ({ ...rule, names: rule.names.length === 0 ? undefined : rule.names })),
          ),
        );
        const all = allowed(
          rules.map((rule) => ({ ...rule, names: rule.names.length === 0 ? undefined : rule.names })),
        );
        for (const less of without) expect(less.size).toBeLessThan(all.size);
      }),
      { numRuns: 300 },
    );
  });
});

interface Permission {
  readonly namespace: string;
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly Verb[];
  readonly names?: readonly string[] | undefined;
}

/** Every single request that is allowed, in a world of two namespaces, two verbs and one more, and three names. */
function allowed(permissions: readonly Permission[]): Set<string> {
  const requests = new Set<string>();
  for (const { namespace, group, resources, verbs, names } of permissions) {
    for (const resource of resources)
      for (const place of namespace === '' ? ['x', 'y', 'elsewhere'] : [namespace])
        for (const verb of verbs.includes('*') ? ['get', 'list', 'patch', 'other'] : verbs)
          for (const name of names ?? ['a', 'b', 'other']) requests.add([place, group, resource, verb, name].join(' '));
  }
  return requests;
}

describe('RBAC objects', () => {
  const grants: Grant[] = [
    { kind: Deployment, verbs: ['get', 'list', 'watch', 'patch', 'delete'], why: 'owns the Deployment of a Website' },
    { kind: Deployment, verbs: ['get'], subresource: 'status', why: 'judges readiness' },
    { kind: Namespace, verbs: ['get'], why: 'looks at labels' },
    {
      kind: Lease,
      verbs: ['get', 'create', 'update'],
      names: ['website-operator'],
      namespace: 'keelson-system',
      why: 'leader election',
    },
  ];

  test('one account, a role for the cluster and one a namespace', () => {
    const rbac = toRbac(grants, options);

    expect(
      rbac.objects.map((object) => `${object.kind} ${object.metadata.namespace ?? '-'}/${object.metadata.name}`),
    ).toEqual([
      'ServiceAccount keelson-system/website-operator',
      'ClusterRole -/website-operator',
      'Role keelson-system/website-operator',
      'ClusterRoleBinding -/website-operator',
      'RoleBinding keelson-system/website-operator',
    ]);
    expect(rbac.roles[0]?.rules).toEqual([
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: ['website-operator'],
        verbs: ['get', 'create', 'update'],
      },
    ]);
    expect(rbac.clusterRole?.metadata.annotations?.[whyAnnotation]).toContain(
      'deployments/status (apps) [get]: judges readiness',
    );
    expect(rbac.roleBindings[0]?.subjects).toEqual([
      { kind: 'ServiceAccount', name: 'website-operator', namespace: 'keelson-system' },
    ]);
  });

  test('confined to namespaces, only cluster-scoped kinds are granted across the cluster', () => {
    const rbac = toRbac(grants, { ...options, namespaces: ['a', 'b'] });

    expect(rbac.clusterRole?.rules?.map((rule) => rule.resources)).toEqual([['namespaces']]);
    expect(rbac.roles.map((role) => role.metadata.namespace)).toEqual(['a', 'b', 'keelson-system']);
  });

  test('nothing across the cluster, no ClusterRole', () => {
    const rbac = toRbac(grants.slice(3), options);

    expect(rbac.clusterRole).toBeUndefined();
    expect(rbac.objects).toHaveLength(3);
  });

  test('the reference says what, where, which and why', () => {
    const reference = toRbacReference(grants);

    expect(reference).toContain(
      '| `leases.coordination.k8s.io` | `keelson-system` | `website-operator` | `get` `create` `update` | leader election |',
    );
    expect(reference).toContain('| `namespaces` | whole cluster | all | `get` | looks at labels |');
    expect(toRbacReference([])).toBe('No permissions are needed.\n');
  });
});
