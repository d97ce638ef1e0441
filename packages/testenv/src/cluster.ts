/**
 * The parts of an environment and their start: first storage and API, then, at level 'cluster', what acts on it.
 *
 * Ports are found free and handed over by number, so another process can take one in between: a part that finds its port
 * taken is started again on another one, and the caller never notices.
 */
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AdminClient } from './admin.ts';
import {
  apiServer,
  type ClientLayout,
  controllerManager,
  etcd,
  kwok,
  layoutFiles,
  scheduler,
} from './control-plane.ts';
import type { Keyring, Registrar } from './credentials.ts';
import { isPortTaken, Part, type PartSpec, portAttempts, startOnFreePort } from './part.ts';
import { findFreePort } from './ports.ts';
import type { Reaper } from './reaper.ts';
import { kwokConfig } from './stages.ts';
import type { Parts, TestEnvOptions } from './test-env.ts';

const defaultReadyMs = 60_000;

/** A running API server and the way to it. */
export interface RunningApi {
  readonly url: string;
  readonly admin: AdminClient;
  readonly etcd: Part;
  readonly apiserver: Part;
}

/** The parts that level 'cluster' adds. */
export type ClusterParts = Pick<Parts, 'controllerManager' | 'scheduler' | 'kwok'>;

/** Starts etcd and kube-apiserver side by side and resolves when the API can be used. */
export async function startApi(
  reaper: Reaper,
  binary: string,
  keyring: Keyring,
  options: TestEnvOptions,
  findPort = findFreePort,
): Promise<RunningApi> {
  for (let attempt = 1; ; attempt += 1) {
    const [etcdPort, apiPort] = await Promise.all([findPort(), options.port ?? findPort()]);
    const url = `https://127.0.0.1:${apiPort}`;
    const admin = new AdminClient(url, keyring.authority.certificate, keyring.admin);
    const { apiServerFlags = {}, readyWithinMs = defaultReadyMs } = options;
    const layout = { binary, dir: reaper.dir, etcdPort, apiPort, admin, apiServerFlags, readyWithinMs };
    const storage = new Part(etcd(layout), reaper);
    const server = new Part(apiServer(layout), reaper);
    try {
      await Promise.all([storage.start(), server.start()]);
      await waitForDefaultNamespace(admin);
      return { url, admin, etcd: storage, apiserver: server };
    } catch (error) {
      await Promise.all([storage.kill(), server.kill(), admin.close()]);
      if (!isPortTaken(error) || attempt === portAttempts) throw error;
    }
  }
}

/** Starts controller-manager, scheduler and KWOK side by side. */
export async function startCluster(
  reaper: Reaper,
  binaries: { readonly controlplane: string; readonly kwok: string },
  api: RunningApi,
  registrar: Registrar,
  options: TestEnvOptions,
): Promise<ClusterParts> {
  const { admin, url } = api;
  const readyWithinMs = options.readyWithinMs ?? defaultReadyMs;
  const start = async (toSpec: (layout: ClientLayout) => PartSpec, binary: string, user: string, groups: string[]) => {
    const kubeconfig = await registrar.kubeconfigFor(url, { user, groups });
    return startOnFreePort(async () => {
      const layout = { binary, dir: reaper.dir, kubeconfig, port: await findFreePort(), admin, readyWithinMs };
      return new Part(toSpec(layout), reaper);
    });
  };
  await writeFile(layoutFiles(reaper.dir).kwokConfig, kwokConfig());
  const [manager, placer, nodes] = await Promise.all([
    start(controllerManager, binaries.controlplane, 'system:kube-controller-manager', []),
    start(scheduler, binaries.controlplane, 'system:kube-scheduler', []),
    // KWOK plays all kubelets at once, for which no RBAC role exists.
    start(kwok, binaries.kwok, 'kwok', ['system:masters']),
  ]);
  return { controllerManager: manager, scheduler: placer, kwok: nodes };
}

/** The API server reports ready a moment before it has made the system's namespaces. */
async function waitForDefaultNamespace(admin: AdminClient): Promise<void> {
  while (!(await admin.answers('/api/v1/namespaces/default'))) await sleep(25);
}
