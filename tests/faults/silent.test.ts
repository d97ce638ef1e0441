/**
 * Converged means silent: with 100 Websites at rest, the API server's audit log shows no write by the operator and no read but
 * watches and its lease; and when somebody touches every one of them without changing what is wanted, still no write.
 * The operator is a process of its own, under the permissions that follow from what it declares.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Website, website } from '@keelson/example-website';
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { permissions } from '@keelson/runtime';
import { type Instance, manifest, toCrd, toRbac } from '@keelson/schema';
import { type AuditEntry, startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startReplica } from './process.ts';
import { until } from './until.ts';

const SITES = 100;
const REST_MS = 60_000;
const OPERATOR = 'system:serviceaccount:operator-home:website';

type Spec = Instance<typeof Website>['spec'];

describe('converged means silent', () => {
  let env: TestEnv;
  let client: KubeClient;

  beforeAll(async () => {
    env = await startTestEnv({ level: 'cluster', nodes: 3, crds: [toCrd(Website)] });
    client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
  });
  afterAll(async () => {
    await client?.close();
    await env?.stop();
  });

  it(`${SITES} Websites at rest for ${REST_MS / 1_000} s: no write, and no read but watches and the lease`, async () => {
    const home = await env.createNamespace('operator-home');
    const sites = await env.createNamespace('sites');
    const leaderElection = { namespace: home, name: 'website' };
    const rbac = toRbac(permissions([website], { leaderElection }), { name: 'website', namespace: home });
    await env.kubectl(['apply', '-f', '-'], {
      stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: rbac.objects }),
    });
    const kubeconfig = await env.kubeconfigFor({ serviceAccount: { namespace: home, name: 'website' } });

    await using replica = startReplica(kubeconfig, { leaderElection });
    await replica.running;
    const startedAt = performance.now();
    for (let n = 0; n < SITES; n += 1) {
      const spec = { html: `site ${n}`, replicas: 1, public: n % 10 === 0 } as Spec;
      await client.create(Website, manifest(Website, { name: `site-${n}`, namespace: sites }, { spec }));
    }
    await until(async () => (await readySites(client, sites)) === SITES, 300_000, 200);
    console.log(`${SITES} Websites are Ready after ${Math.round((performance.now() - startedAt) / 1_000)} s`);
    await settled(env);

    const rest = await env.audit.mark();
    await sleep(REST_MS);
    const atRest = await env.audit.entries({ since: rest, user: OPERATOR });
    const writes = atRest.filter((entry) => isWrite(entry) && entry.resource !== 'leases');
    const reads = atRest.filter((entry) => !isWrite(entry) && entry.verb !== 'watch' && entry.resource !== 'leases');
    const renewals = atRest.filter((entry) => isWrite(entry) && entry.resource === 'leases');
    console.log(
      `in ${REST_MS / 1_000} s at rest: ${writes.length} writes, ${reads.length} reads, ${renewals.length} renewals of the lease`,
    );
    expect(writes.map(toText)).toEqual([]);
    expect(reads.map(toText)).toEqual([]);
    expect(renewals.length, 'the operator was alive').toBeGreaterThan(REST_MS / 2_000);

    const touched = await env.audit.mark();
    for (let n = 0; n < SITES; n += 1) {
      const value = { metadata: { annotations: { 'example.com/touched': `${n}` } } };
      await client.patch(Website, { name: `site-${n}`, namespace: sites }, { type: 'merge', value });
    }
    await sleep(5_000);
    const whenTouched = await env.audit.entries({ since: touched, user: OPERATOR });
    expect(whenTouched.filter((entry) => entry.verb !== 'watch' && entry.resource !== 'leases').map(toText)).toEqual(
      [],
    );

    const refused = (await env.audit.entries({ user: OPERATOR })).filter(({ code }) => code === 403);
    expect(refused.map(toText)).toEqual([]);
    // It is still listening: a change is acted on.
    await client.patch(
      Website,
      { name: 'site-1', namespace: sites },
      { type: 'merge', value: { spec: { html: 'new' } } },
    );
    await until(
      async () => (await env.audit.writesBy(OPERATOR, { since: touched, resource: 'configmaps' })).length > 0,
      10_000,
      200,
    );
  });
});

const isWrite = ({ verb }: AuditEntry): boolean => !['get', 'list', 'watch'].includes(verb);
const toText = ({ verb, requestURI, code }: AuditEntry): string => `${verb} ${requestURI} → ${code}`;

async function readySites(client: KubeClient, namespace: string): Promise<number> {
  const { items } = await client.listAll(Website, { namespace });
  return items.filter(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  ).length;
}

/** Waits until the operator has written nothing but its lease for a few seconds. */
async function settled(env: TestEnv): Promise<void> {
  await until(
    async () => {
      const mark = await env.audit.mark();
      await sleep(3_000);
      return (await env.audit.writesBy(OPERATOR, { since: mark })).every(({ resource }) => resource === 'leases');
    },
    120_000,
    200,
  );
}
