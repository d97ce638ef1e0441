/** Runs the operator in a test environment as it would run in a cluster: under its own ServiceAccount, with its generated permissions. */
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { createManager, permissions, silentLogger } from '@keelson/runtime';
import { type Instance, type KubeObject, manifest, Namespace, toRbac } from '@keelson/schema';
import type { TestEnv } from '@keelson/testenv';
import { vi } from 'vitest';
import { website } from '../operator.ts';
import { Website } from '../resource.ts';

export const account = { namespace: 'website-system', name: 'website' };

export interface RunningWebsite extends AsyncDisposable {
  /** The cluster as its administrator. */
  readonly admin: KubeClient;
  /** Applies a Website of the namespace `default`. */
  site(name: string, spec: Partial<Instance<typeof Website>['spec']>): Promise<void>;
}

export async function runWebsite(env: TestEnv): Promise<RunningWebsite> {
  const admin = createClient(await loadConfig({ kubeconfig: env.kubeconfig }));
  const rbac = toRbac(permissions([website]), account);
  for (const object of [manifest(Namespace, { name: account.namespace }, {}), ...rbac.objects])
    await put(admin, object);
  const own = createClient(await loadConfig({ kubeconfig: await env.kubeconfigFor({ serviceAccount: account }) }));
  const stopping = new AbortController();
  const manager = createManager({ client: own, operators: [website], leaderElection: false, logger: silentLogger });
  const ended = manager.run(stopping.signal);
  return {
    admin,
    site: async (name, spec) => {
      const object = {
        apiVersion: 'example.keelson.io/v1alpha1',
        kind: 'Website',
        metadata: { name, namespace: 'default' },
        spec,
      };
      await admin.apply(Website, object, { fieldManager: 'a-user', force: true });
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await ended;
      await Promise.all([own.close(), admin.close()]);
    },
  };
}

async function put(admin: KubeClient, object: KubeObject): Promise<void> {
  const kind = await admin.resolve(object);
  if (kind === undefined) throw new Error(`no kind ${object.kind}`);
  await admin.apply(kind, object, { fieldManager: 'a-user', force: true });
}

/** Waits until an assertion holds; fails with its own message. */
export function eventually<T>(assertion: () => Promise<T>): Promise<T> {
  return vi.waitFor(assertion, { timeout: 30_000, interval: 50 });
}
