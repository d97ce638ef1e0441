/** Runs the operator in a test environment as it would run in a cluster: under its own ServiceAccount, with its generated permissions. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { createLogger, createManager, type Operator, permissions, silentLogger } from '@keelson/runtime';
import { type Condition, type KubeObject, manifest, Namespace, toCrd, toRbac } from '@keelson/schema';
import { ensurePart } from '@keelson/testbed';
import { startTestEnv, type TestEnv, type TestEnvOptions } from '@keelson/testenv';
import { vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { features } from '../features/index.ts';
import { createSecurityOperator } from '../operator.ts';
import { type Agent, SecurityAgent } from '../resource.ts';

const account = { namespace: 'keelson-system', name: 'security' };

/** The user that the operator is to the API server. */
export const OPERATOR_USER = `system:serviceaccount:${account.namespace}:${account.name}`;

export interface Stage extends AsyncDisposable {
  readonly env: TestEnv;
  /** The cluster as its administrator. */
  readonly admin: KubeClient;
  /** Applies objects as a user would. */
  apply(...objects: readonly KubeObject[]): Promise<void>;
  /**
   * Replaces the spec of an agent as a whole, or makes the agent. Not by server-side apply: there, a list that becomes empty is
   * dropped from the object, and then missed where it is required.
   */
  setAgent(agent: KubeObject): Promise<void>;
  /** The agent as it is stored. */
  agent(name: string, namespace: string): Promise<Agent>;
  /** Waits until one of its conditions is as told. */
  untilCondition(
    ref: { readonly name: string; readonly namespace: string },
    type: string,
    expected: Partial<Omit<Condition, 'message'>> & { readonly message?: string | RegExp },
    timeout?: number,
  ): Promise<Condition>;
  /** Waits until the operator has written nothing for so long; who never rests fails, with what is written. */
  untilAtRest(quietMs?: number): Promise<void>;
}

/** Folders with the CRDs of these projects, as upstream publishes them. */
export async function upstreamCrds(
  ...projects: readonly ('tetragon' | 'trivy-operator' | 'kyverno')[]
): Promise<string[]> {
  const { path } = await ensurePart('crds');
  return projects.map((project) => join(path, project));
}

/** Collectors of simulated pods are nowhere: this is where nobody listens. */
const withoutCollectors = createSecurityOperator(features, { reachCollector: () => 'http://127.0.0.1:1/metrics' });

export interface StageOptions {
  readonly operator?: Operator;
  /** Gets every line that the operator logs, at the finest level. */
  readonly onLog?: (line: string) => void;
}

export async function startStage(options: TestEnvOptions = {}, more: StageOptions = {}): Promise<Stage> {
  const { operator = withoutCollectors, onLog } = more;
  const env = await startTestEnv({ ...options, crds: [toCrd(SecurityAgent), ...(options.crds ?? [])] });
  const admin = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
  const apply: Stage['apply'] = async (...objects) => {
    for (const object of objects) {
      const kind = await admin.resolve(object);
      if (kind === undefined) throw new Error(`no kind ${object.kind}`);
      await admin.apply(kind, object, { fieldManager: 'a-user', force: true });
    }
  };
  const rbac = toRbac(permissions([operator]), account);
  await apply(manifest(Namespace, { name: account.namespace }, {}), ...rbac.objects);
  const kubeconfig = await env.kubeconfigFor({ serviceAccount: account });
  const own = createClient(await loadConfig({ kubeconfig, env: {} }));
  const stopping = new AbortController();
  const logger =
    onLog === undefined
      ? silentLogger
      : createLogger({ level: 'debug', format: 'json', destination: { write: (line) => onLog(line) } });
  const manager = createManager({ client: own, operators: [operator], leaderElection: false, logger });
  const ended = manager.run(stopping.signal);
  const agent: Stage['agent'] = async (name, namespace) =>
    (await admin.get(SecurityAgent, { name, namespace })) as Agent;
  const setAgent: Stage['setAgent'] = async (object) => {
    const { name, namespace = 'default' } = object.metadata;
    const stored = { ...object, metadata: { name, namespace } };
    if ((await admin.find(SecurityAgent, { name, namespace })) === undefined) return apply(stored);
    const operations = [{ op: 'replace' as const, path: '/spec', value: object.spec }];
    await admin.patch(SecurityAgent, { name, namespace }, { type: 'json', operations });
  };
  return {
    env,
    admin,
    apply,
    setAgent,
    agent,
    untilCondition: ({ name, namespace }, type, expected, timeout = 60_000) =>
      vi.waitFor(
        async () => {
          const { status, metadata } = await agent(name, namespace);
          const found = status?.conditions?.find((condition) => condition.type === type);
          const stale = found?.observedGeneration !== metadata.generation;
          const wrong = Object.entries(expected).find(([key, value]) => {
            const said = found?.[key as keyof Condition];
            return value instanceof RegExp ? !value.test(String(said)) : said !== value;
          });
          if (found === undefined || stale || wrong !== undefined)
            throw new Error(`${type} is not ${inspect(expected)} yet: ${JSON.stringify(status?.conditions, null, 1)}`);
          return found;
        },
        { timeout, interval: 100 },
      ),
    untilAtRest: (quietMs = 3_000) =>
      vi.waitFor(
        async () => {
          const since = await env.audit.mark();
          await sleep(quietMs);
          const written = await env.audit.writesBy(OPERATOR_USER, { since });
          const names = written.map(({ verb, resource, subresource, name }) => [verb, resource, subresource, name]);
          if (names.length > 0) throw new Error(`the operator does not rest: ${JSON.stringify(names)}`);
        },
        { timeout: 90_000 + quietMs, interval: 100 },
      ),
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await ended;
      await Promise.all([own.close(), admin.close()]);
      await env.stop();
    },
  };
}

/** The objects of a sample file. */
export function sample(name: string): KubeObject[] {
  const file = new URL(`../../../../samples/security/${name}.yaml`, import.meta.url);
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as KubeObject);
}
