/**
 * `startTestEnv`: a real Kubernetes API on this machine for one test file, in a few seconds.
 *
 * It makes keys and a temporary folder, starts the parts under a reaper, waits until they serve, and hands out a
 * `TestEnv`. Invariants: environments know nothing of each other (own folder, ports, keys, processes), so any number run
 * at once; when this process ends, in whatever way, no process and no file of theirs remains. If the start fails, the
 * error says which part failed and shows its log, and only the logs stay. Called by tests and by the CLI's `up`.
 */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePart } from '@keelson/testbed';
import { type AdminClient, isApiError } from './admin.ts';
import { Audit, auditPolicy } from './audit.ts';
import { type ClusterParts, type RunningApi, startApi, startCluster } from './cluster.ts';
import { layoutFiles } from './control-plane.ts';
import { applyCrds } from './crds.ts';
import { createKeyring, type Keyring, Registrar } from './credentials.ts';
import type { FaultProxy } from './fault-proxy/proxy.ts';
import { startFaultProxy } from './fault-proxy/start.ts';
import { runKubectl } from './kubectl.ts';
import { addNodes, removeNode, simulatedNodes } from './nodes.ts';
import { isPartFailure } from './part.ts';
import { isPortFree } from './ports.ts';
import { Reaper } from './reaper.ts';
import type { Parts, TestEnv, TestEnvOptions } from './test-env.ts';

/** Starts an environment and resolves when it can be used. */
export async function startTestEnv(options: TestEnvOptions = {}): Promise<TestEnv> {
  const { level = 'api', nodes = 3, onProgress: progress = () => {} } = options;
  if (options.port !== undefined && !(await isPortFree(options.port))) {
    throw new Error(
      `port ${options.port} on 127.0.0.1 is taken: end what listens there, or leave out \`port\` to get a free one`,
    );
  }
  const controlplane = (await ensurePart('controlplane', { onProgress: progress })).path;
  const kwok = level === 'cluster' ? (await ensurePart('kwok', { onProgress: progress })).path : '';
  const dir = await mkdtemp(join(options.tmpdir ?? tmpdir(), 'keelson-testenv-'));
  const reaper = await Reaper.over(dir);
  try {
    const keyring = await furnish(dir, options);
    progress('starting etcd and kube-apiserver');
    const api = await startApi(reaper, controlplane, keyring, options);
    const registrar = new Registrar(dir, keyring, api.admin);
    const installCrds = applyCrds(api.admin, options.crds ?? []);
    // Both are waited for below; a failure of one must not be an unhandled rejection while the other runs.
    installCrds.catch(() => {});
    let cluster: ClusterParts | undefined;
    const wanted = typeof nodes === 'number' ? simulatedNodes(nodes) : nodes;
    if (level === 'cluster') {
      progress('starting kube-controller-manager, kube-scheduler and KWOK');
      [cluster] = await Promise.all([
        startCluster(reaper, { controlplane, kwok }, api, registrar, options),
        addNodes(api.admin, wanted),
      ]);
    }
    await Promise.all([installCrds, createDefaultServiceAccount(api.admin, 'default')]);
    return await assemble({ reaper, controlplane, keyring, api, registrar, cluster, nodes: wanted.length, options });
  } catch (error) {
    await reaper.end({ keepLogs: isPartFailure(error) });
    throw error;
  }
}

/** Puts into the folder what the parts expect there. */
export async function furnish(dir: string, options: TestEnvOptions): Promise<Keyring> {
  await Promise.all(['log', 'tmp', 'kubeconfig'].map((folder) => mkdir(join(dir, folder))));
  await writeFile(layoutFiles(dir).auditPolicy, JSON.stringify(auditPolicy(options.auditLevel ?? 'Metadata')));
  return createKeyring(dir);
}

interface Started {
  readonly reaper: Reaper;
  readonly controlplane: string;
  readonly keyring: Keyring;
  readonly api: RunningApi;
  readonly registrar: Registrar;
  readonly cluster: ClusterParts | undefined;
  /** How many nodes there are. */
  readonly nodes: number;
  readonly options: TestEnvOptions;
}

async function assemble({
  reaper,
  controlplane,
  keyring,
  api,
  registrar,
  cluster,
  nodes,
  options,
}: Started): Promise<TestEnv> {
  const { dir } = reaper;
  const { url, admin } = api;
  const kubeconfig = await registrar.write(url, 'testenv-admin', keyring.admin);
  const proxies: FaultProxy[] = [];
  let nodesMade = nodes;
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= Promise.all([admin.close(), reaper.end(), ...proxies.map((proxy) => proxy.close())]).then(() => {});
    return stopped;
  };
  return {
    level: options.level ?? 'api',
    dir,
    url,
    authority: keyring.authority.certificate,
    kubeconfig,
    parts: toParts(api, cluster),
    audit: new Audit(layoutFiles(dir).auditLog, (path) => admin.answers(path)),
    kubeconfigFor: (identity) => registrar.kubeconfigFor(url, identity),
    token: (identity) => registrar.token(identity),
    adminRequest: async <T>(method: string, path: string, body?: unknown, requestOptions = {}) =>
      (await admin.request(method, path, body, requestOptions)) as T,
    kubectl: (args, kubectlOptions = {}) => runKubectl(reaper, controlplane, kubeconfig, args, kubectlOptions),
    kubectlCommand: [controlplane, 'kubectl', `--kubeconfig=${kubeconfig}`],
    applyCrds: (crds) => applyCrds(admin, crds),
    addNode: async (node) => {
      requireCluster(cluster, 'a simulated node');
      nodesMade += 1;
      await addNodes(admin, [node], nodesMade - 1);
    },
    removeNode: async (name) => {
      requireCluster(cluster, 'a simulated node');
      await removeNode(admin, name);
    },
    createNamespace: async (name = `test-${Math.random().toString(36).slice(2, 8)}`) => {
      await admin.request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      await createDefaultServiceAccount(admin, name);
      return name;
    },
    faultProxy: async (proxyOptions = {}) => {
      const proxy = await startFaultProxy(url, keyring, registrar, proxyOptions);
      proxies.push(proxy);
      return proxy;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function toParts(api: RunningApi, cluster: ClusterParts | undefined): Parts {
  const clusterPart = <Name extends keyof ClusterParts>(name: Name) => {
    requireCluster(cluster, name);
    return cluster[name];
  };
  return {
    etcd: api.etcd,
    apiserver: api.apiserver,
    get controllerManager() {
      return clusterPart('controllerManager');
    },
    get scheduler() {
      return clusterPart('scheduler');
    },
    get kwok() {
      return clusterPart('kwok');
    },
  };
}

function requireCluster(cluster: ClusterParts | undefined, what: string): asserts cluster {
  if (!cluster) throw new Error(`${what} only runs at level 'cluster': startTestEnv({ level: 'cluster' })`);
}

/** Without a controller-manager nobody makes it, and the API server would refuse every Pod of the namespace. */
async function createDefaultServiceAccount(admin: AdminClient, namespace: string): Promise<void> {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: 'default' } };
  await admin.request('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, account).catch((error: unknown) => {
    if (!isApiError(error, 409)) throw error;
  });
}
