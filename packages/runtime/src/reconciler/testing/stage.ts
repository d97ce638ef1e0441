/** For tests of the engine: a real API server, a namespace and a workbench for each test, and what tests ask about them. */
import { createClient, isFault, type KubeClient, loadConfig, systemClock } from '@keelson/kube';
import {
  ClusterRole,
  type Condition,
  ConfigMap,
  Deployment,
  type Kind,
  type KubeObject,
  Secret,
  Service,
  toCrd,
} from '@keelson/schema';
import { type Level, startTestEnv, type TestEnv } from '@keelson/testenv';
import { conditionsOf } from '../../status/next.ts';
import { Bundle, startWorkbench, type Workbench, type WorkbenchOptions } from './workbench.ts';

/** Who the operator is in the audit log. */
const user = 'bench-operator';
const owns = [ConfigMap, Secret, Service, Deployment, ClusterRole];

export interface Stage {
  readonly env: TestEnv;
  readonly admin: KubeClient;
  /** Of the test that runs. */
  readonly namespace: string;
  readonly bench: Workbench;
  begin(): Promise<void>;
  /** The operator again, defined differently. */
  restartWith(options: Partial<WorkbenchOptions>): Promise<void>;
  end(): Promise<void>;
  stop(): Promise<void>;
  /** A condition of an instance as the server has it. */
  condition(name: string, type: string): Promise<Condition | undefined>;
  /** What the operator wrote meanwhile, e.g. `patch configmaps web`. */
  writesDuring(work: () => Promise<unknown>): Promise<string[]>;
  /** Does something while the server takes any spec for a Bundle, as an older definition might have. */
  withLooseSpec(work: () => Promise<unknown>): Promise<void>;
  /** A change by somebody else. */
  patch(kind: Kind, name: string, value: unknown): Promise<KubeObject>;
}

export async function startStage(level: Level = 'api'): Promise<Stage> {
  const env = await startTestEnv({ level, crds: [toCrd(Bundle)] });
  const admin = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
  const kubeconfig = await env.kubeconfigFor({ user, groups: ['system:masters'] });
  let namespace = '';
  let bench: Workbench | undefined;

  const stage: Stage = {
    env,
    admin,
    get namespace() {
      return namespace;
    },
    get bench() {
      if (bench === undefined) throw new Error('no test has begun');
      return bench;
    },
    async begin() {
      namespace = await env.createNamespace();
      bench = await startWorkbench({ kubeconfig, namespace, owns });
    },
    async restartWith(options) {
      await stage.end();
      bench = await startWorkbench({ kubeconfig, namespace, owns, ...options });
    },
    async end() {
      await bench?.close();
      bench = undefined;
    },
    async stop() {
      await admin.close();
      await env.stop();
    },
    condition: async (name, type) =>
      conditionsOf((await stage.bench.self(name))?.status).find((one) => one.type === type),
    async writesDuring(work) {
      const since = await env.audit.mark();
      await work();
      const entries = await env.audit.writesBy(user, { since });
      return entries.map(
        ({ verb, resource, subresource, name }) =>
          `${verb} ${[resource, subresource].filter(Boolean).join('/')} ${name}`,
      );
    },
    async withLooseSpec(work) {
      await env.applyCrds([looseCrd()]);
      try {
        await untilServed(work);
      } finally {
        await env.applyCrds([toCrd(Bundle) as unknown as KubeObject]);
      }
    },
    patch(kind, name, value) {
      const ref = kind.scope === 'Namespaced' ? { namespace, name } : { name };
      return admin.patch(kind, ref, { type: 'merge', value }, { fieldManager: 'somebody' });
    },
  };
  return stage;
}

function looseCrd(): KubeObject {
  const crd = structuredClone(toCrd(Bundle));
  for (const version of crd.spec.versions) {
    const properties = version.schema?.openAPIV3Schema?.properties ?? {};
    const anything: object = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    properties.spec = anything;
  }
  return crd as unknown as KubeObject;
}

/** A changed definition takes the server a moment to work by. */
async function untilServed(work: () => Promise<unknown>): Promise<void> {
  for (const deadline = Date.now() + 10_000; ; ) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isFault(error, 'Invalid') || Date.now() > deadline) throw error;
      await systemClock.sleep(50);
    }
  }
}

export function configMap(name: string, data: Record<string, string> = { a: '1' }): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

export function clusterRole(name: string): KubeObject {
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules };
}

export function deployment(name: string, replicas: number): KubeObject {
  const containers = [{ name: 'web', image: 'nginx', ports: [{ containerPort: 80 }] }];
  const template = { metadata: { labels: { app: name } }, spec: { containers } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { replicas, selector: { matchLabels: { app: name } }, template },
  };
}
