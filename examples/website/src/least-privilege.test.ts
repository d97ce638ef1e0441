/**
 * Least privilege, both ways: under exactly the roles that are generated for it, the operator is never refused anything, and
 * there is no permission among them that it does not use.
 */
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { createManager, marks, permissions, silentLogger } from '@keelson/runtime';
import {
  ConfigMap,
  Deployment,
  type KubeObject,
  manifest,
  PriorityClass,
  Service,
  toCrd,
  toRbac,
} from '@keelson/schema';
import { type FaultProxy, startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { website } from './operator.ts';
import { Website } from './resource.ts';

const system = 'keelson-system';
const election = { namespace: system, name: 'keelson' };
const rbac = toRbac(permissions([website], { leaderElection: election }), { name: 'keelson', namespace: system });
const user = `system:serviceaccount:${system}:keelson`;

describe('the website operator under its own ServiceAccount', () => {
  let env: TestEnv;
  let admin: KubeClient;
  let proxy: FaultProxy;
  const stop = new AbortController();
  let running: Promise<void>;

  beforeAll(async () => {
    // The plugin makes the API server check who may set owner references: without it the right to do so could not be missed.
    const apiServerFlags = { 'enable-admission-plugins': 'OwnerReferencesPermissionEnforcement' };
    env = await startTestEnv({ level: 'cluster', nodes: 1, crds: [toCrd(Website)], apiServerFlags });
    admin = createClient(await loadConfig({ kubeconfig: env.kubeconfig }));
    await env.createNamespace(system);
    await env.createNamespace('shop');
    await env.kubectl(['apply', '-f', '-'], {
      stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: rbac.objects }),
    });
    proxy = await env.faultProxy();
    const kubeconfig = await proxy.kubeconfigFor({ serviceAccount: { namespace: system, name: 'keelson' } });
    const client = createClient(await loadConfig({ kubeconfig }));
    running = createManager({
      client,
      operators: [website],
      leaderElection: election,
      health: false,
      logger: silentLogger,
    }).run(stop.signal);
  });
  afterAll(async () => {
    stop.abort();
    await running;
    await admin?.close();
    await env?.stop();
  });

  it('is refused nothing, and uses everything', async () => {
    await admin.create(
      Website,
      manifest(Website, { name: 'front', namespace: 'shop' }, { spec: site({ public: true }) }),
    );
    await eventually(async () => (await readyOf('front')) === 'True');
    // Twice the same drift: the second time its event becomes a series.
    for (const image of ['drifted:1', 'drifted:1']) {
      await admin.patch(
        Deployment,
        { name: 'front', namespace: 'shop' },
        { type: 'strategic', value: { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } } },
      );
      await eventually(async () => JSON.stringify(await deployment()).includes('busybox'));
    }
    // A streaming list is a watch to the API server. After a stream has broken, the reflector lists to see where it stands.
    proxy.cutAll({ watch: true });
    await leaveBehind();
    await eventually(async () => (await leftBehind()) === 0);
    await admin.patch(
      Website,
      { name: 'front', namespace: 'shop' },
      { type: 'merge', value: { spec: { public: false } } },
    );
    await eventually(async () => (await admin.find(PriorityClass, { name: 'shop.front.website' })) === undefined);
    await admin.delete(Website, { name: 'front', namespace: 'shop' });
    await eventually(async () => (await admin.find(ConfigMap, { name: 'front', namespace: 'shop' })) === undefined);
    await eventually(
      async () => unused(await env.audit.entries({ user })).length === 0,
      () => env.audit.entries({ user }).then(unused),
    );

    const entries = await env.audit.entries({ user });
    expect(entries.filter(({ code }) => code === 401 || code === 403)).toEqual([]);
    expect(unused(entries)).toEqual([]);
  });

  it('needs the right to set owner references where the cluster checks it', async () => {
    const { name } = rbac.clusterRole?.metadata ?? { name: '' };
    const rules = (rbac.clusterRole as unknown as { rules: { resources: string[] }[] }).rules;
    const fewer = rules.filter(({ resources }) => !resources.includes('websites/finalizers'));
    await env.adminRequest('PUT', `/apis/rbac.authorization.k8s.io/v1/clusterroles/${name}`, {
      ...rbac.clusterRole,
      rules: fewer,
    });
    await admin.create(Website, manifest(Website, { name: 'back', namespace: 'shop' }, { spec: site({}) }));
    await eventually(async () => (await conditionOf('back', 'Applied'))?.reason === 'Forbidden');
    expect((await conditionOf('back', 'Applied'))?.message).toMatch(/finalizers/);
  });

  const site = (spec: Partial<ReturnType<typeof specOf>>) =>
    ({ html: '<p>hello</p>', ...spec }) as ReturnType<typeof specOf>;
  const specOf = (one: Awaited<ReturnType<typeof get>>) => one.spec;
  const get = (name: string) => admin.get(Website, { name, namespace: 'shop' });
  const conditionOf = async (name: string, type: string) =>
    (await get(name)).status?.conditions?.find((one) => one.type === type);
  const readyOf = async (name: string) => (await conditionOf(name, 'Ready'))?.status;
  const deployment = () => admin.get(Deployment, { name: 'front', namespace: 'shop' });

  /** What an older version of the operator might have made and this one no longer wants: one of each kind. */
  async function leaveBehind(): Promise<void> {
    const { uid = '' } = (await get('front')).metadata;
    const labels = { [marks.operator]: website.fieldManager, [marks.ownerUid]: uid };
    const metadata = { name: 'old', namespace: 'shop', labels };
    const pod = { metadata: { labels: { app: 'old' } }, spec: { containers: [{ name: 'c', image: 'old' }] } };
    const ownerReferences = [
      { apiVersion: 'example.keelson.io/v1alpha1', kind: 'Website', name: 'front', uid, controller: true },
    ];
    const owned = { ...metadata, ownerReferences };
    await admin.create(ConfigMap, manifest(ConfigMap, owned, { data: {} }));
    await admin.create(Service, manifest(Service, owned, { spec: { ports: [{ port: 1 }] } }));
    await admin.create(
      Deployment,
      manifest(Deployment, owned, { spec: { replicas: 0, selector: { matchLabels: { app: 'old' } }, template: pod } }),
    );
    await admin.create(PriorityClass, manifest(PriorityClass, { name: 'old', labels }, { value: 1 }));
  }

  async function leftBehind(): Promise<number> {
    const ref = { name: 'old', namespace: 'shop' };
    const found: (KubeObject | undefined)[] = await Promise.all([
      admin.find(ConfigMap, ref),
      admin.find(Service, ref),
      admin.find(Deployment, ref),
      admin.find(PriorityClass, { name: 'old' }),
    ]);
    return found.filter((object) => object !== undefined).length;
  }
});

interface Request {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly code: number;
}

/** The permissions for which there was no request: verb by verb, resource by resource. */
function unused(requests: readonly Request[]): string[] {
  // Server-side apply of something new is a patch in the log, but takes the right to create.
  const verbsOf = ({ verb, code }: Request) => (verb === 'patch' && code === 201 ? [verb, 'create'] : [verb]);
  const made = new Set(
    requests.flatMap((request) =>
      verbsOf(request).map((verb) => `${verb} ${request.group}/${request.resource}/${request.subresource}`),
    ),
  );
  const granted = [rbac.clusterRole, ...rbac.roles].flatMap(
    (role) => (role as unknown as { rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[] }).rules,
  );
  return (
    granted
      .flatMap(({ apiGroups, resources, verbs }) =>
        verbs.flatMap((verb) =>
          resources.map((resource) => {
            const [plural = '', subresource = ''] = resource.split('/');
            return `${verb} ${apiGroups[0]}/${plural}/${subresource}`;
          }),
        ),
      )
      // Checked inside the API server when an owner reference is set, so no request shows it; the second test proves the need.
      .filter((permission) => !made.has(permission) && !permission.endsWith('websites/finalizers'))
  );
}

async function eventually(holds: () => Promise<boolean>, otherwise?: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`it did not come to hold within 30 s${otherwise ? `: ${JSON.stringify(await otherwise())}` : ''}`);
}
