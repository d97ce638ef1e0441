/** A real API server that is asked what it thinks of objects, and stores none of them. */
import { createClient, loadConfig } from '@keelson/kube';
import { type KubeObject, manifest, Namespace } from '@keelson/schema';
import { startTestEnv } from '@keelson/testenv';

export interface DryRunServer extends AsyncDisposable {
  /** Stores an object that others need, such as a namespace. */
  create(object: KubeObject): Promise<void>;
  /** The object as the server would store it; rejects with what it has against it, fields that it does not know included. */
  dryRun(object: KubeObject): Promise<KubeObject>;
}

/** Starts it with these CRDs and with the namespace of testing/agent.ts. */
export async function startDryRunServer(crds: readonly string[] = []): Promise<DryRunServer> {
  const env = await startTestEnv({ crds: [...crds] });
  const client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
  await client.create(Namespace, manifest(Namespace, { name: 'security-system' }, {}));
  const apply = async (object: KubeObject, dryRun: boolean): Promise<KubeObject> => {
    const kind = await client.resolve(object);
    if (kind === undefined) throw new Error(`the server does not know ${object.kind}`);
    return await client.apply(kind, object, { fieldManager: 'test', force: true, dryRun });
  };
  return {
    create: async (object) => void (await apply(object, false)),
    dryRun: (object) => apply(object, true),
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await env.stop();
    },
  };
}
