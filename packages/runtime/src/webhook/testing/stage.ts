/**
 * A stage for tests of the webhooks: the real API server, a resource with two versions, an operator with admission rules, and a
 * client that has no more permissions than `webhookGrants` says.
 */
import { request as httpsRequest } from 'node:https';
import { createClient, type KubeClient, loadConfig, systemClock } from '@keelson/kube';
import {
  defineResource,
  defineVersion,
  type Kind,
  type KubeObject,
  MutatingWebhookConfiguration,
  Type,
  toCrd,
  toRbac,
  ValidatingWebhookConfiguration,
} from '@keelson/schema';
import { isApiError, type TestEnv } from '@keelson/testenv';
import { expect } from 'vitest';
import type { Admission } from '../admission.ts';
import { webhookGrants } from '../grants.ts';
import type { Reviewed } from '../review.ts';
import { createWebhooks, type Webhooks, type WebhooksOptions } from '../webhooks.ts';

const v1 = defineVersion({
  name: 'v1',
  storage: true,
  spec: Type.Object({
    size: Type.Object({ min: Type.Integer(), max: Type.Integer() }),
    image: Type.Optional(Type.String()),
  }),
});
const v1alpha1 = defineVersion({
  name: 'v1alpha1',
  spec: Type.Object({ replicas: Type.Integer() }),
  storedAs: v1,
  convert: {
    toStorage: ({ spec }) => ({ spec: { size: { min: spec.replicas, max: spec.replicas } } }),
    fromStorage: ({ spec }) => ({ spec: { replicas: spec.size.max } }),
  },
});
export const Pool = defineResource({
  group: 'hooks.keelson.io',
  kind: 'Pool',
  scope: 'Namespaced',
  description: 'A pool',
  versions: [v1, v1alpha1],
});

/** The name of the operator's webhook configurations. */
export const configuration = { name: 'pool.hooks.keelson.io' };
export const namespace = 'keelson';
export const user = `system:serviceaccount:${namespace}:webhooks`;
export const secret = { namespace, name: 'webhook-certificates' };
export const certificates = { secret, propagation: '1s' } as const;

export type Outcome = { readonly object: KubeObject } | { readonly refused: string };

export interface Stage {
  readonly env: TestEnv;
  readonly admin: KubeClient;
  /** With the permissions of `webhookGrants`, and no others. */
  readonly ours: KubeClient;
  /** The operator's rule: no pool is larger. Tests make it stricter. */
  greatest: number;
  readonly operator: Reviewed;
  start(options?: Partial<WebhooksOptions>): Promise<Webhooks>;
  /** Started, registered, and called by the API server. */
  serving(options?: Partial<WebhooksOptions>): Promise<Webhooks>;
  create(pool: {
    name: string;
    spec: unknown;
    version?: string;
    query?: string;
    finalizers?: string[];
  }): Promise<Outcome>;
  attempt(method: string, path: string, body?: unknown, contentType?: string): Promise<Outcome>;
  path(version: string, name?: string, query?: string): string;
  /** Stops what was started and removes the registrations. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** Sets the stage in an API server that is empty. */
export async function openStage(env: TestEnv): Promise<Stage> {
  await env.applyCrds([toCrd(Pool)]);
  await env.createNamespace(namespace);
  await env.createNamespace('shop');
  const running: Webhooks[] = [];
  const admission: Admission<typeof Pool> = {
    validate: ({ object }) => {
      if (object.spec.image === 'throw') throw new Error('no such image');
      const { max } = object.spec.size;
      return {
        problems:
          max > stage.greatest
            ? [{ path: 'spec.size.max', message: `must be at most ${stage.greatest}, is ${max}` }]
            : [],
        warnings: object.spec.image === 'old' ? ["spec.image: 'old' is deprecated"] : [],
      };
    },
    mutate: ({ object }) => ({ image: 'nginx', ...object.spec }),
  };
  const operator: Reviewed = { name: 'pool', resource: Pool, admission };
  const { objects } = toRbac(webhookGrants({ operators: [operator], certificates }), {
    name: 'webhooks',
    namespace,
    serviceAccount: 'webhooks',
  });
  await env.kubectl(['apply', '-f', '-'], {
    stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  });
  const admin = createClient(await loadConfig({ kubeconfig: env.kubeconfig }));
  const account = await env.kubeconfigFor({ serviceAccount: { namespace, name: 'webhooks' } });

  const stage: Stage = {
    env,
    admin,
    ours: createClient(await loadConfig({ kubeconfig: account })),
    greatest: 10,
    operator,
    async start(options = {}) {
      const webhooks = createWebhooks({
        operators: [operator],
        client: stage.ours,
        reach: (port) => ({ url: `https://127.0.0.1:${port}` }),
        certificates,
        port: 0,
        host: '127.0.0.1',
        ...options,
      });
      running.push(webhooks);
      await webhooks.start(new AbortController().signal);
      return webhooks;
    },
    async serving(options = {}) {
      const webhooks = await stage.start(options);
      await until(
        () => webhooks.ready().ok && webhooks.registered().ok,
        () => `webhooks that are registered: ${webhooks.ready().message}; ${webhooks.registered().message}`,
      );
      const probe = { name: 'probe', spec: { size: { min: 1, max: 99 } }, query: '?dryRun=All' };
      await until(
        async () => 'refused' in (await stage.create(probe)),
        () => 'the API server to call us',
      );
      return webhooks;
    },
    create({ name, spec, version = 'v1', query = '', ...metadata }) {
      const body = { apiVersion: `hooks.keelson.io/${version}`, kind: 'Pool', metadata: { name, ...metadata }, spec };
      return stage.attempt('POST', stage.path(version, '', query), body);
    },
    async attempt(method, path, body, contentType) {
      try {
        return {
          object: await env.adminRequest<KubeObject>(
            method,
            path,
            body,
            contentType === undefined ? {} : { contentType },
          ),
        };
      } catch (error) {
        if (isApiError(error)) return { refused: error.message };
        throw error;
      }
    },
    path: (version, name = '', query = '') =>
      `/apis/hooks.keelson.io/${version}/namespaces/shop/pools${name === '' ? '' : `/${name}`}${query}`,
    async clear() {
      stage.greatest = 10;
      for (const webhooks of running.splice(0)) await webhooks.stop();
      for (const kind of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration]) {
        if ((await admin.find<KubeObject>(kind, configuration)) !== undefined)
          await admin.delete(kind as Kind, configuration);
      }
    },
    async close() {
      await Promise.all([admin.close(), stage.ours.close()]);
      await env.stop();
    },
  };
  return stage;
}

/** Waits for a condition, and fails with what was waited for. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: () => string,
  withinMs = 20_000,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadline) expect.fail(`waited ${withinMs} ms for ${what()}`);
    await systemClock.sleep(50);
  }
}

/** The object of an outcome that must not be a refusal. */
export function objectOf(outcome: Outcome): KubeObject {
  return 'object' in outcome ? outcome.object : expect.fail(outcome.refused);
}

export interface LoadReport {
  /** Requests that the API server had mutated, validated and converted by us. */
  sent: number;
  /** Connections that a caller opened who trusts exactly what is registered at that moment. */
  connections: number;
  /** Different authorities that were registered. */
  authorities: number;
  readonly failed: string[];
}

/** Sends requests without pause until it is stopped. */
export function startLoad(
  stage: Stage,
  webhooks: Webhooks,
): { readonly authorities: number; stop(): Promise<LoadReport> } {
  const report: LoadReport = { sent: 0, connections: 0, authorities: 0, failed: [] };
  const authorities = new Set<string>();
  let stopping = false;

  async function throughApiServer(): Promise<void> {
    while (!stopping) {
      const outcome = await stage.create({
        name: `load-${report.sent}`,
        version: 'v1alpha1',
        spec: { replicas: 1 },
        query: '?dryRun=All',
      });
      report.sent += 1;
      if ('refused' in outcome) report.failed.push(outcome.refused);
      await systemClock.sleep(10);
    }
  }

  async function freshConnections(): Promise<void> {
    while (!stopping) {
      const [entry] = (await stage.admin.get(ValidatingWebhookConfiguration, configuration)).webhooks ?? [];
      const ca = Buffer.from(entry?.clientConfig.caBundle ?? '', 'base64').toString();
      for (const pem of ca.match(/-----BEGIN[^-]+-----[^-]+/g) ?? []) authorities.add(pem);
      const failure = await call(webhooks.port ?? 0, ca);
      report.connections += 1;
      if (failure !== undefined) report.failed.push(failure);
      await systemClock.sleep(10);
    }
  }

  const loops = Promise.all([throughApiServer(), freshConnections()]);
  return {
    get authorities() {
      return authorities.size;
    },
    stop: async () => {
      stopping = true;
      await loops;
      return { ...report, authorities: authorities.size };
    },
  };
}

/** Calls a webhook over a new connection; says what failed, if anything did. */
function call(port: number, ca: string): Promise<string | undefined> {
  const options = {
    host: '127.0.0.1',
    port,
    ca,
    path: '/validate/pool',
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json' },
  } as const;
  return new Promise((resolve) => {
    const outgoing = httpsRequest(options, (response) => {
      const { statusCode } = response;
      // An empty object is no review: that we are told so is all that is asked here.
      response.resume().on('end', () => resolve(statusCode === 400 ? undefined : `answered ${statusCode}`));
    });
    outgoing.on('error', (error) => resolve(error.message)).end('{}');
  });
}

/** The same client, but what callers must trust is written late: the time in which a hasty rotation would be noticed. */
export function slowToRegister(client: KubeClient, delayMs: number): KubeClient {
  return new Proxy(client, {
    get: (target, method: keyof KubeClient) => {
      if (method !== 'apply') return target[method].bind(target);
      return async (...args: Parameters<KubeClient['apply']>) => {
        if (args[0].kind === ValidatingWebhookConfiguration.kind) await systemClock.sleep(delayMs);
        return target.apply(...args);
      };
    },
  });
}
