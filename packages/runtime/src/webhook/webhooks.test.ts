/** The real API server calls us over TLS, and we run with no more permissions than `webhookGrants` says. */
import { request as httpsRequest } from 'node:https';
import { createClient, type KubeClient, loadConfig, systemClock } from '@keelson/kube';
import {
  CustomResourceDefinition,
  defineResource,
  defineVersion,
  type KubeObject,
  MutatingWebhookConfiguration,
  Secret,
  Type,
  toCrd,
  toRbac,
  ValidatingWebhookConfiguration,
} from '@keelson/schema';
import { isApiError, startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { issueAuthority } from '../certificates/issue.ts';
import { silentLogger } from '../logging/logger.ts';
import type { Admission } from './admission.ts';
import { webhookGrants } from './grants.ts';
import { silentObserver } from './observer.ts';
import { fieldManager } from './registration.ts';
import type { Reviewed } from './review.ts';
import { createWebhooks, type Webhooks, type WebhooksOptions } from './webhooks.ts';

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
const Pool = defineResource({
  group: 'hooks.keelson.io',
  kind: 'Pool',
  scope: 'Namespaced',
  description: 'A pool',
  versions: [v1, v1alpha1],
});

/** Rules may become stricter while instances exist: set by a test. */
let greatest = 10;
const admission: Admission<typeof Pool> = {
  validate: ({ object }) => {
    if (object.spec.image === 'throw') throw new Error('no such image');
    const { max } = object.spec.size;
    return {
      problems: max > greatest ? [{ path: 'spec.size.max', message: `must be at most ${greatest}, is ${max}` }] : [],
      warnings: object.spec.image === 'old' ? ["spec.image: 'old' is deprecated"] : [],
    };
  },
  mutate: ({ object }) => ({ image: 'nginx', ...object.spec }),
};
const pool: Reviewed = { name: 'pool', resource: Pool, admission };

const namespace = 'keelson';
const user = `system:serviceaccount:${namespace}:webhooks`;
const secret = { namespace, name: 'webhook-certificates' };
const certificates = { secret, propagation: '1s' } as const;

const authority = await issueAuthority({ now: Date.now(), lifetimeMs: 3_600_000 });

let env: TestEnv;
let admin: KubeClient;
let ours: KubeClient;
const running: Webhooks[] = [];

beforeAll(async () => {
  env = await startTestEnv({ crds: [toCrd(Pool)] });
  await env.createNamespace(namespace);
  await env.createNamespace('shop');
  const { objects } = toRbac(webhookGrants({ operators: [pool], certificates }), {
    name: 'webhooks',
    namespace,
    serviceAccount: 'webhooks',
  });
  await env.kubectl(['apply', '-f', '-'], {
    stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  });
  admin = createClient(await loadConfig({ kubeconfig: env.kubeconfig }));
  ours = createClient(
    await loadConfig({ kubeconfig: await env.kubeconfigFor({ serviceAccount: { namespace, name: 'webhooks' } }) }),
  );
});

afterEach(async () => {
  greatest = 10;
  for (const webhooks of running.splice(0)) await webhooks.stop();
  await admin.delete(ValidatingWebhookConfiguration, { name: 'pool.hooks.keelson.io' });
  await admin.delete(MutatingWebhookConfiguration, { name: 'pool.hooks.keelson.io' });
});

afterAll(async () => {
  await Promise.all([admin?.close(), ours?.close()]);
  await env?.stop();
});

async function start(options: Partial<WebhooksOptions> = {}): Promise<Webhooks> {
  const webhooks = createWebhooks({
    operators: [pool],
    client: ours,
    reach: (port) => ({ url: `https://127.0.0.1:${port}` }),
    certificates,
    port: 0,
    host: '127.0.0.1',
    logger: silentLogger,
    ...options,
  });
  running.push(webhooks);
  await webhooks.start(new AbortController().signal);
  return webhooks;
}

async function until(condition: () => boolean | Promise<boolean>, what: string, withinMs = 20_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadline) expect.fail(`waited ${withinMs} ms for ${what}`);
    await systemClock.sleep(50);
  }
}

/** Started, registered, and seen so by the API server. */
async function serving(options: Partial<WebhooksOptions> = {}): Promise<Webhooks> {
  const webhooks = await start(options);
  await until(() => webhooks.ready().ok && webhooks.registered().ok, 'webhooks that are registered').catch(() =>
    expect.fail(`${webhooks.ready().message}; ${webhooks.registered().message}`),
  );
  await until(async () => {
    const probe = await create({ name: 'probe', spec: { size: { min: 1, max: 99 } }, query: '?dryRun=All' });
    return 'refused' in probe;
  }, 'the API server to call us');
  return webhooks;
}

const path = (version: string, name = '', query = '') =>
  `/apis/hooks.keelson.io/${version}/namespaces/shop/pools${name === '' ? '' : `/${name}`}${query}`;

type Outcome = { readonly object: KubeObject } | { readonly refused: string };

async function attempt(method: string, where: string, body?: unknown, contentType?: string): Promise<Outcome> {
  try {
    return {
      object: await env.adminRequest<KubeObject>(method, where, body, contentType === undefined ? {} : { contentType }),
    };
  } catch (error) {
    if (isApiError(error)) return { refused: error.message };
    throw error;
  }
}

function create({
  name,
  spec,
  version = 'v1',
  query = '',
  ...metadata
}: {
  name: string;
  spec: unknown;
  version?: string;
  query?: string;
  finalizers?: string[];
}): Promise<Outcome> {
  return attempt('POST', path(version, '', query), {
    apiVersion: `hooks.keelson.io/${version}`,
    kind: 'Pool',
    metadata: { name, ...metadata },
    spec,
  });
}

function objectOf(outcome: Outcome): KubeObject {
  return 'object' in outcome ? outcome.object : expect.fail(outcome.refused);
}

describe('the API server', () => {
  it('has instances mutated and validated by us, and users see problems with paths and warnings', async () => {
    await serving();
    const created = objectOf(await create({ name: 'good', spec: { size: { min: 1, max: 2 } } }));
    expect(created.spec).toEqual({ size: { min: 1, max: 2 }, image: 'nginx' });

    expect(await create({ name: 'big', spec: { size: { min: 1, max: 11 } } })).toEqual({
      refused: expect.stringContaining(
        'admission webhook "validate.pool.hooks.keelson.io" denied the request: spec.size.max: must be at most 10, is 11',
      ),
    });
    expect(await create({ name: 'throws', spec: { size: { min: 1, max: 1 }, image: 'throw' } })).toEqual({
      refused: expect.stringContaining(
        "the validate function of operator 'pool' failed on Pool shop/throws: no such image",
      ),
    });
    const manifest = {
      apiVersion: 'hooks.keelson.io/v1',
      kind: 'Pool',
      metadata: { name: 'old', namespace: 'shop' },
      spec: { size: { min: 1, max: 1 }, image: 'old' },
    };
    // kubectl exits with an error for a warning when told to, and its message is what a person sees.
    const applied = env.kubectl(['apply', '-f', '-', '--warnings-as-errors'], { stdin: JSON.stringify(manifest) });
    await expect(applied).rejects.toThrow("Warning: spec.image: 'old' is deprecated");
  });

  it('leaves what breaks the schema to its own words', async () => {
    await serving();
    expect(await create({ name: 'bad', spec: { size: { min: 'one', max: 2 } } })).toEqual({
      refused: expect.stringMatching(/spec\.size\.min.*must be of type integer/),
    });
  });

  it('has instances converted both ways', async () => {
    await serving();
    objectOf(await create({ name: 'alpha', version: 'v1alpha1', spec: { replicas: 3 } }));
    const stored = objectOf(await attempt('GET', path('v1', 'alpha')));
    expect(stored).toMatchObject({
      apiVersion: 'hooks.keelson.io/v1',
      spec: { size: { min: 3, max: 3 } },
    });
    objectOf(await create({ name: 'stable', spec: { size: { min: 1, max: 5 } } }));
    expect(objectOf(await attempt('GET', path('v1alpha1', 'stable')))).toMatchObject({
      apiVersion: 'hooks.keelson.io/v1alpha1',
      spec: { replicas: 5 },
    });
    const list = await env.adminRequest<{ items: KubeObject[] }>('GET', path('v1alpha1'));
    expect(list.items.length).toBeGreaterThanOrEqual(2);
    expect(list.items.every(({ spec }) => typeof (spec as { replicas?: unknown }).replicas === 'number')).toBe(true);
    // What comes in another version is validated in the stored one.
    expect(await create({ name: 'alpha-big', version: 'v1alpha1', spec: { replicas: 11 } })).toEqual({
      refused: expect.stringContaining('spec.size.max: must be at most 10, is 11'),
    });
  });

  it('lets an instance go that breaks a newer rule, even when nobody answers', async () => {
    const webhooks = await serving();
    objectOf(
      await create({ name: 'legacy', spec: { size: { min: 1, max: 9 } }, finalizers: ['hooks.keelson.io/hold'] }),
    );
    greatest = 5;
    const change = (patch: unknown) => attempt('PATCH', path('v1', 'legacy'), patch, 'application/merge-patch+json');
    expect(await change({ metadata: { labels: { a: 'b' } } })).toEqual({
      refused: expect.stringContaining('must be at most 5'),
    });
    objectOf(await change({ metadata: { finalizers: ['hooks.keelson.io/hold', 'hooks.keelson.io/second'] } }));
    objectOf(await attempt('DELETE', path('v1', 'legacy')));
    await webhooks.stop();
    expect(await change({ spec: { image: 'other' } })).toEqual({
      refused: expect.stringContaining('failed calling webhook'),
    });
    objectOf(await change({ metadata: { finalizers: null } }));
    expect(await attempt('GET', path('v1', 'legacy'))).toEqual({ refused: expect.stringContaining('not found') });
  });
});

describe('at rest', () => {
  it('nothing is written, nothing is read but watches, and nothing was forbidden', async () => {
    const before = await env.audit.mark();
    await serving();
    const mark = await env.audit.mark();
    await systemClock.sleep(5_000);
    const calls = await env.audit.entries({ since: mark, user });
    expect(calls.filter(({ verb }) => verb !== 'watch')).toEqual([]);
    expect((await env.audit.entries({ since: before, user })).filter(({ code }) => code === 403)).toEqual([]);
  });
});

describe('what somebody else does to', () => {
  it('a webhook configuration is undone, also where applying alone could not', async () => {
    await serving();
    const name = 'pool.hooks.keelson.io';
    const entries = async () => JSON.stringify((await admin.get(ValidatingWebhookConfiguration, { name })).webhooks);
    const good = await entries();
    const elsewhere = {
      service: { namespace: 'x', name: 'x' },
      caBundle: Buffer.from(authority.certificate.pem).toString('base64'),
    };
    const edits = [
      [
        { op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Ignore' },
        { op: 'replace', path: '/webhooks/0/objectSelector', value: { matchLabels: { never: 'there' } } },
        { op: 'remove', path: '/webhooks/0/clientConfig/caBundle' },
        { op: 'add', path: '/metadata/labels', value: {} },
      ],
      [{ op: 'add', path: '/webhooks/0/matchConditions/-', value: { name: 'never', expression: 'false' } }],
      [{ op: 'replace', path: '/webhooks/0/clientConfig', value: elsewhere }],
      [{ op: 'replace', path: '/webhooks', value: [] }],
    ] as const;
    for (const operations of edits) {
      await admin.patch(ValidatingWebhookConfiguration, { name }, { type: 'json', operations });
      expect(await entries()).not.toBe(good);
      await until(async () => (await entries()) === good, `the repair of ${operations[0].path}`);
    }
    await admin.delete(ValidatingWebhookConfiguration, { name });
    await until(
      async () => (await admin.find(ValidatingWebhookConfiguration, { name })) !== undefined,
      'the configuration to come back',
    );
  });

  it('the conversion of a CRD is undone', async () => {
    await serving();
    const name = 'pools.hooks.keelson.io';
    const conversion = async () => (await admin.get(CustomResourceDefinition, { name })).spec.conversion;
    const good = await conversion();
    expect(good?.webhook?.clientConfig?.caBundle).toBeTruthy();
    for (const edit of [
      { strategy: 'None', webhook: null },
      {
        strategy: 'Webhook',
        webhook: { clientConfig: { url: null, service: { namespace: 'x', name: 'x', path: '/', port: 443 } } },
      },
    ]) {
      await admin.patch(CustomResourceDefinition, { name }, { type: 'merge', value: { spec: { conversion: edit } } });
      await until(
        async () => JSON.stringify(await conversion()) === JSON.stringify(good),
        `the repair of ${JSON.stringify(edit)}`,
      );
    }
  });

  it.each([
    [
      'garbage',
      { 'tls.crt': 'Z2FyYmFnZQ==', 'tls.key': 'Z2FyYmFnZQ==', 'ca.crt': 'Z2FyYmFnZQ==', 'ca.key': 'Z2FyYmFnZQ==' },
    ],
    ['nothing', { 'tls.crt': null, 'tls.key': null, 'ca.crt': null, 'ca.key': null }],
  ])('the Secret (%s in it) is repaired, and nobody notices', async (_, data) => {
    await serving();
    const before = (await admin.get(Secret, secret)).data?.['tls.crt'];
    const load = startLoad();
    await admin.patch(Secret, secret, { type: 'merge', value: { data } });
    await until(async () => {
      const now = (await admin.get(Secret, secret)).data?.['tls.crt'] ?? '';
      return now.length > 100 && now !== before;
    }, 'a new certificate in the Secret');
    await systemClock.sleep(3_000);
    expect(await load.stop()).toMatchObject({ failed: [] });
  });

  it('the Secret (deleted) is repaired, and nobody notices', async () => {
    await serving();
    const { uid } = (await admin.get(Secret, secret)).metadata;
    const load = startLoad();
    await admin.delete(Secret, secret);
    await until(async () => (await admin.find(Secret, secret))?.data?.['tls.crt'] !== undefined, 'a new Secret');
    expect((await admin.get(Secret, secret)).metadata.uid).not.toBe(uid);
    await systemClock.sleep(3_000);
    expect(await load.stop()).toMatchObject({ failed: [] });
  });
});

/** Requests one after the other, each of which the API server has mutated, validated and converted by us. */
function startLoad() {
  let stopping = false;
  const failed: string[] = [];
  let sent = 0;
  const loop = (async () => {
    while (!stopping) {
      const outcome = await create({
        name: `load-${sent}`,
        version: 'v1alpha1',
        spec: { replicas: 1 },
        query: '?dryRun=All',
      });
      sent += 1;
      if ('refused' in outcome) failed.push(outcome.refused);
      await systemClock.sleep(10);
    }
  })();
  return {
    stop: async () => {
      stopping = true;
      await loop;
      return { sent, failed };
    },
  };
}

describe('rotation', () => {
  it('replaces authorities and certificates while requests flow, and none fails', async () => {
    const rotations: string[] = [];
    let certificatesSeen = 0;
    const observer = {
      ...silentObserver,
      wrote: (target: string) => rotations.push(target),
      certificate: () => {
        certificatesSeen += 1;
      },
    };
    const webhooks = await serving({
      certificates: { secret, authorityLifetime: '16s', servingLifetime: '4s', propagation: '500ms' },
      observer,
    });
    const authorities = new Set<string>();
    const load = startLoad();
    // And a caller that opens a connection for every request, trusting exactly what is registered at that moment.
    let direct = 0;
    const directFailures: string[] = [];
    const end = Date.now() + 32_000;
    while (Date.now() < end) {
      const [entry] =
        (await admin.get(ValidatingWebhookConfiguration, { name: 'pool.hooks.keelson.io' })).webhooks ?? [];
      const ca = Buffer.from(entry?.clientConfig.caBundle ?? '', 'base64').toString();
      for (const pem of ca.match(/-----BEGIN[^-]+-----[^-]+/g) ?? []) authorities.add(pem);
      const failure = await handshake(webhooks.port ?? 0, ca);
      direct += 1;
      if (failure !== undefined) directFailures.push(failure);
      await systemClock.sleep(20);
    }
    const { sent, failed } = await load.stop();
    console.log(
      `rotation: ${authorities.size} authorities, ${certificatesSeen} certificates, ${sent} requests through the API server (${failed.length} failed), ${direct} fresh connections (${directFailures.length} failed)`,
    );
    expect(failed).toEqual([]);
    expect(directFailures).toEqual([]);
    expect(authorities.size).toBeGreaterThanOrEqual(4);
    expect(certificatesSeen).toBeGreaterThanOrEqual(10);
    expect(sent).toBeGreaterThan(200);
  }, 90_000);
});

function handshake(port: number, ca: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const call = httpsRequest(
      {
        host: '127.0.0.1',
        port,
        ca,
        path: '/validate/pool',
        method: 'POST',
        agent: false,
        headers: { 'content-type': 'application/json' },
      },
      (response) => {
        response
          .resume()
          .on('end', () => resolve(response.statusCode === 400 ? undefined : `answered ${response.statusCode}`));
      },
    );
    call.on('error', (error) => resolve(error.message)).end('{}');
  });
}

describe('two replicas', () => {
  it('share the certificate, and only the one that may writes', async () => {
    let leader = 'first';
    const fence = (name: string) => ({
      check: () => {
        if (leader !== name) throw new Error('not the leader');
      },
    });
    const written: string[] = [];
    const observer = (name: string) => ({ ...silentObserver, wrote: () => written.push(name) });
    const reach = (port: number) => ({ url: `https://127.0.0.1:${port}` });
    const first = await serving({ fence: fence('first'), observer: observer('first'), reach });
    const second = await start({
      fence: fence('second'),
      observer: observer('second'),
      reach: () => reach(first.port ?? 0),
    });
    await until(() => second.ready().ok && second.registered().ok, 'the standby to serve');
    await admin.delete(Secret, secret);
    await until(async () => (await admin.find(Secret, secret))?.data?.['tls.crt'] !== undefined, 'a new Secret');
    expect(new Set(written)).toEqual(new Set(['first']));

    leader = 'second';
    await admin.delete(ValidatingWebhookConfiguration, { name: 'pool.hooks.keelson.io' });
    await until(
      async () => (await admin.find(ValidatingWebhookConfiguration, { name: 'pool.hooks.keelson.io' })) !== undefined,
      'the new leader to register',
    );
    expect(written.at(-1)).toBe('second');
    const managers = (
      await admin.get(ValidatingWebhookConfiguration, { name: 'pool.hooks.keelson.io' })
    ).metadata.managedFields?.map(({ manager }) => manager);
    expect(managers).toEqual([fieldManager]);
  });
});
