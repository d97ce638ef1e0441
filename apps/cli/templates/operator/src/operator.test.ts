/** The operator on a real API server, under the permissions that are generated for it. */
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { createManager, permissions, silentLogger } from '@keelson/runtime';
import { Deployment, toCrd, toRbac } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { widgetOperator } from './operator.ts';
import { Widget } from './resource.ts';

describe('the widget operator', () => {
  const stopping = new AbortController();
  const account = { namespace: 'default', name: 'widget-operator' };
  let env: TestEnv;
  let admin: KubeClient;
  let operator: KubeClient;
  let ended: Promise<void>;

  beforeAll(async () => {
    env = await startTestEnv({ crds: [toCrd(Widget)] });
    admin = createClient(await loadConfig({ kubeconfig: env.kubeconfig }));
    for (const object of toRbac(permissions([widgetOperator]), account).objects) {
      await env.kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(object) });
    }
    operator = createClient(await loadConfig({ kubeconfig: await env.kubeconfigFor({ serviceAccount: account }) }));
    const manager = createManager({
      client: operator,
      operators: [widgetOperator],
      leaderElection: false,
      logger: silentLogger,
    });
    ended = manager.run(stopping.signal);
  });

  afterAll(async () => {
    stopping.abort();
    await ended;
    await Promise.all([admin?.close(), operator?.close()]);
    await env?.stop();
  });

  it('given a Widget, when it is created and changed, then its Deployment follows', async () => {
    const replicasBecome = (wanted: number) =>
      vi.waitFor(async () => {
        const { spec } = await admin.get(Deployment, { name: 'first', namespace: 'default' });
        expect(spec.replicas).toBe(wanted);
      }, 20_000);
    await env.kubectl(['apply', '-f', 'samples/widget.yaml']);
    await replicasBecome(2);
    await env.kubectl(['patch', 'widgets', 'first', '--type=merge', '-p', '{"spec":{"replicas":5}}']);
    await replicasBecome(5);
  });

  it('given all it did, when the audit log is read, then nothing was forbidden', async () => {
    const user = `system:serviceaccount:${account.namespace}:${account.name}`;
    expect((await env.audit.entries({ user })).length).toBeGreaterThan(0);
    expect(await env.audit.entries({ user, code: 403 })).toEqual([]);
  });
});
