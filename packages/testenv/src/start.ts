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
import { setTimeout as sleep } from 'node:timers/promises';
import { ensurePart } from '@keelson/testbed';
import { AdminClient, isApiError } from './admin.ts';
import { Audit, auditPolicy } from './audit.ts';
import { apiServer, etcd, layoutFiles } from './control-plane.ts';
import { applyCrds } from './crds.ts';
import { createKeyring, type Keyring, Registrar } from './credentials.ts';
import { runKubectl } from './kubectl.ts';
import { isPartFailure, Part } from './part.ts';
import { findFreePort, isPortFree } from './ports.ts';
import { Reaper } from './reaper.ts';
import type { Parts, TestEnv, TestEnvOptions } from './test-env.ts';

/** Starts an environment and resolves when it can be used. */
export async function startTestEnv(options: TestEnvOptions = {}): Promise<TestEnv> {
  const progress = options.onProgress ?? (() => {});
  if (options.port !== undefined && !(await isPortFree(options.port))) {
    throw new Error(
      `port ${options.port} on 127.0.0.1 is taken: end what listens there, or leave out \`port\` to get a free one`,
    );
  }
  const controlplane = await ensurePart('controlplane', { onProgress: progress });
  const dir = await mkdtemp(join(options.tmpdir ?? tmpdir(), 'keelson-testenv-'));
  const reaper = await Reaper.over(dir);
  try {
    await Promise.all(['log', 'tmp', 'kubeconfig'].map((folder) => mkdir(join(dir, folder))));
    await writeFile(layoutFiles(dir).auditPolicy, JSON.stringify(auditPolicy(options.auditLevel ?? 'Metadata')));
    const keyring = await createKeyring(dir);
    progress('starting etcd and kube-apiserver');
    const running = await startApi(reaper, controlplane.path, keyring, options);
    const env = await assemble(reaper, controlplane.path, keyring, running, options);
    if (options.crds) await env.applyCrds(options.crds);
    return env;
  } catch (error) {
    await reaper.end({ keepLogs: isPartFailure(error) });
    throw error;
  }
}

interface RunningApi {
  readonly url: string;
  readonly admin: AdminClient;
  readonly parts: Parts;
}

/** Starts etcd and API server; a port that somebody took between our look and the bind means another try. */
async function startApi(
  reaper: Reaper,
  binary: string,
  keyring: Keyring,
  options: TestEnvOptions,
): Promise<RunningApi> {
  for (let attempt = 1; ; attempt += 1) {
    const [etcdPort, apiPort] = await Promise.all([findFreePort(), options.port ?? findFreePort()]);
    const url = `https://127.0.0.1:${apiPort}`;
    const admin = new AdminClient(url, keyring.authority.certificate, keyring.admin);
    const layout = {
      binary,
      dir: reaper.dir,
      etcdPort,
      apiPort,
      admin,
      apiServerFlags: options.apiServerFlags ?? {},
      readyWithinMs: options.readyWithinMs ?? 60_000,
    };
    const parts = { etcd: new Part(etcd(layout), reaper), apiserver: new Part(apiServer(layout), reaper) };
    try {
      await Promise.all([parts.etcd.start(), parts.apiserver.start()]);
      await waitForDefaultNamespace(admin);
      return { url, admin, parts };
    } catch (error) {
      await Promise.all([parts.etcd.kill(), parts.apiserver.kill(), admin.close()]);
      const portTaken = isPartFailure(error) && /address already in use/.test(error.log);
      if (!portTaken || attempt === 5) throw error;
    }
  }
}

/** The API server reports ready a moment before it has made the system's namespaces. */
async function waitForDefaultNamespace(admin: AdminClient): Promise<void> {
  while (!(await admin.answers('/api/v1/namespaces/default'))) await sleep(25);
}

async function assemble(
  reaper: Reaper,
  binary: string,
  keyring: Keyring,
  { url, admin, parts }: RunningApi,
  options: TestEnvOptions,
): Promise<TestEnv> {
  const { dir } = reaper;
  const registrar = new Registrar(dir, keyring, admin);
  const kubeconfig = await registrar.write(url, 'testenv-admin', keyring.admin);
  await createDefaultServiceAccount(admin, 'default');
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= Promise.all([admin.close(), reaper.end()]).then(() => {});
    return stopped;
  };
  return {
    level: options.level ?? 'api',
    dir,
    url,
    authority: keyring.authority.certificate,
    kubeconfig,
    parts,
    audit: new Audit(layoutFiles(dir).auditLog, (path) => admin.answers(path)),
    kubeconfigFor: (identity) => registrar.kubeconfigFor(url, identity),
    token: (identity) => registrar.token(identity),
    adminRequest: async <T>(method: string, path: string, body?: unknown, requestOptions = {}) =>
      (await admin.request(method, path, body, requestOptions)) as T,
    kubectl: (args, kubectlOptions = {}) => runKubectl(reaper, binary, kubeconfig, args, kubectlOptions),
    kubectlCommand: [binary, 'kubectl', `--kubeconfig=${kubeconfig}`],
    applyCrds: (crds) => applyCrds(admin, crds),
    createNamespace: async (name = `test-${Math.random().toString(36).slice(2, 8)}`) => {
      await admin.request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      await createDefaultServiceAccount(admin, name);
      return name;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Without a controller-manager nobody makes it, and the API server would refuse every Pod of the namespace. */
async function createDefaultServiceAccount(admin: AdminClient, namespace: string): Promise<void> {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: 'default' } };
  await admin.request('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, account).catch((error: unknown) => {
    if (!isApiError(error, 409)) throw error;
  });
}
