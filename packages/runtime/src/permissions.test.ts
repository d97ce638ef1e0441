/** An operator under the roles that its own declaration gives, on a real API server: nothing is forbidden, and nothing is granted in vain. */
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import {
  ClusterRole,
  ConfigMap,
  type Grant,
  type KubeObject,
  mergeGrants,
  resourceNameOf,
  Secret,
  Service,
  toCrd,
  toRbac,
} from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apply, expire } from './decision.ts';
import { defineOperator, type OperatorDefinition } from './operator.ts';
import { permissions } from './permissions.ts';
import { Bundle, startWorkbench } from './reconciler/testing/workbench.ts';

const definition: Partial<OperatorDefinition<Bundle, unknown>> = {
  expires: true,
  watches: [{ kind: Service, relate: () => ['all'] }],
  reads: [{ kind: Secret, names: ['credentials'], why: 'it logs in with them' }],
  observe: async ({ read }) => (await read.find(Secret, { name: 'credentials' }))?.metadata.name,
};
const owns = [{ kind: ConfigMap, anywhere: true }, ClusterRole];
const operator = defineOperator<Bundle, unknown>({
  name: 'bench',
  resource: Bundle,
  owns,
  reconcile: () => apply({ objects: [] }),
  ...definition,
});
const brief = (grants: readonly Grant[]) =>
  grants.map(({ kind, subresource, verbs, names, namespace }) =>
    [
      `${[resourceNameOf(kind), subresource].filter(Boolean).join('/')}: ${verbs.join(' ')}`,
      ...(names ?? []),
      ...(namespace ? [`in ${namespace}`] : []),
    ].join(' '),
  );

describe('permissions', () => {
  it('are for the names that it declares, where it does', () => {
    const named = defineOperator<Bundle, unknown>({
      name: 'bench',
      resource: Bundle,
      owns: [{ kind: Secret, anywhere: true, names: ['keys', 'more-keys'] }],
      reconcile: () => apply({ objects: [] }),
    });
    expect(brief(permissions([named])).filter((grant) => grant.startsWith('secrets'))).toEqual([
      'secrets: get list watch create patch delete keys more-keys',
    ]);
  });

  it('follow from the declaration', () => {
    expect(brief(permissions([operator], { leaderElection: { namespace: 'system', name: 'bench' } }))).toEqual([
      'bundles.bench.keelson.io: list watch',
      'bundles.bench.keelson.io: patch',
      'bundles.bench.keelson.io/status: patch',
      'bundles.bench.keelson.io: delete',
      'bundles.bench.keelson.io/finalizers: update',
      'configmaps: get list watch create patch delete',
      'clusterroles.rbac.authorization.k8s.io: get list watch create patch delete',
      'services: list watch',
      'secrets: get credentials',
      'events.events.k8s.io: create patch',
      'leases.coordination.k8s.io: create in system',
      'leases.coordination.k8s.io: get update bench in system',
    ]);
  });

  it('are confined with the operator, but for what may stand anywhere', () => {
    const { roles, clusterRole } = toRbac(permissions([operator]), {
      name: 'bench',
      namespace: 'system',
      namespaces: ['shop'],
    });
    const wide = clusterRole?.rules?.flatMap((rule) => rule.resources ?? []);
    expect(wide).toEqual(['configmaps', 'clusterroles']);
    expect(roles.map((role) => role.metadata.namespace)).toEqual(['shop']);
  });

  it('let no instance be deleted by an operator that does not declare it', () => {
    const { expires: _, ...careful } = operator;
    expect(brief(permissions([careful])).filter((one) => one.startsWith('bundles') && one.includes('delete'))).toEqual(
      [],
    );
  });

  it('are none for no operators', () => {
    expect(permissions([])).toEqual([]);
  });
});

describe('under its own ServiceAccount', () => {
  let env: TestEnv;
  let admin: KubeClient;
  beforeAll(async () => {
    env = await startTestEnv({ crds: [toCrd(Bundle)] });
    admin = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
  });
  afterAll(async () => {
    await admin?.close();
    await env?.stop();
  });

  it('an operator is refused nothing, and uses all that it is granted', async () => {
    const namespace = await env.createNamespace();
    const account = { namespace, name: 'bench-operator' };
    // Passing on a right in a role takes having it; this is what `grants` is for.
    const passedOn: Grant = { kind: { group: '', plural: 'pods' }, verbs: ['get'], why: 'test' };
    const grants = [...permissions([operator]), passedOn];
    for (const object of toRbac(grants, account).objects)
      await env.kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(object) });
    const kubeconfig = await env.kubeconfigFor({ serviceAccount: account });
    const bench = await startWorkbench({ kubeconfig, namespace, owns, definition, admin });
    try {
      const role = (name: string): KubeObject => ({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name },
        rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
      });
      const configMap = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
      await bench.create('web');
      bench.rules = () =>
        apply({ objects: [role(`a-${namespace}`), role(`b-${namespace}`), configMap('a'), configMap('b')] });
      await bench.turn('web');
      bench.rules = () => apply({ objects: [role(`a-${namespace}`), configMap('a')] });
      await bench.turn('web');
      bench.rules = () => expire({ reason: 'TimeIsUp', message: 'it has been long enough' });
      expect(await bench.turn('web')).toMatchObject({ result: 'expired' });
      expect(await bench.turn('web')).toMatchObject({ result: 'deleted' });
    } finally {
      await bench.close();
    }
    const user = `system:serviceaccount:${namespace}:${account.name}`;
    const entries = await env.audit.entries({ user });
    expect(entries.filter(({ code }) => code === 403)).toEqual([]);

    const used = new Set(
      entries.map(
        ({ verb, group, resource, subresource }) =>
          `${verb} ${group}/${[resource, subresource].filter(Boolean).join('/')}`,
      ),
    );
    // An apply that makes an object is a patch in the log and a create to the authoriser.
    for (const { verb, group, resource, code } of entries)
      if (verb === 'patch' && code === 201) used.add(`create ${group}/${resource}`);
    // A server that streams lists is watched only; another one is listed first.
    for (const one of [...used]) if (one.startsWith('watch ')) used.add(one.replace('watch', 'list'));
    const granted = mergeGrants(grants).flatMap(({ group, resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`)),
    );
    // Events are written by the recorder, which is not part of this test; owner references are checked by a plugin that is off here.
    const elsewhere = [
      'create events.k8s.io/events',
      'patch events.k8s.io/events',
      'update bench.keelson.io/bundles/finalizers',
      'get /pods',
    ];
    expect(granted.filter((one) => !used.has(one) && !elsewhere.includes(one))).toEqual([]);
  });
});
