/** The real API server calls us over TLS, and we run with no more permissions than `webhookGrants` says. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, loadConfig, systemClock } from '@keelson/kube';
import {
  defineResource,
  type KubeObject,
  manifest,
  Secret,
  Type,
  toCrd,
  ValidatingWebhookConfiguration,
} from '@keelson/schema';
import { startTestEnv } from '@keelson/testenv';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { issueAuthority, issueCertificate } from '../certificates/issue.ts';
import { silentObserver } from './observer.ts';
import { fieldManager } from './registration.ts';
import { configuration, objectOf, openStage, type Stage, secret, until, user } from './testing/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(await startTestEnv());
});
afterEach(() => stage.clear());
afterAll(() => stage?.close());

describe('the API server', () => {
  it('has instances mutated and validated by us, and users see problems with paths and warnings', async () => {
    await stage.serving();
    const created = objectOf(await stage.create({ name: 'good', spec: { size: { min: 1, max: 2 } } }));
    expect(created.spec).toEqual({ size: { min: 1, max: 2 }, image: 'nginx' });

    expect(await stage.create({ name: 'big', spec: { size: { min: 1, max: 11 } } })).toEqual({
      refused: expect.stringContaining(
        'admission webhook "validate.pool.hooks.keelson.io" denied the request: spec.size.max: must be at most 10, is 11',
      ),
    });
    expect(await stage.create({ name: 'throws', spec: { size: { min: 1, max: 1 }, image: 'throw' } })).toEqual({
      refused: expect.stringContaining(
        "the validate function of operator 'pool' failed on Pool shop/throws: no such image",
      ),
    });
    const old = {
      apiVersion: 'hooks.keelson.io/v1',
      kind: 'Pool',
      metadata: { name: 'old', namespace: 'shop' },
      spec: { size: { min: 1, max: 1 }, image: 'old' },
    };
    // kubectl exits with an error for a warning when told to, and its message is what a person sees.
    const applied = stage.env.kubectl(['apply', '-f', '-', '--warnings-as-errors'], { stdin: JSON.stringify(old) });
    await expect(applied).rejects.toThrow("Warning: spec.image: 'old' is deprecated");
  });

  it('leaves what breaks the schema to its own words', async () => {
    await stage.serving();
    expect(await stage.create({ name: 'bad', spec: { size: { min: 'one', max: 2 } } })).toEqual({
      refused: expect.stringMatching(/spec\.size\.min.*must be of type integer/),
    });
  });

  it('has instances converted both ways', async () => {
    await stage.serving();
    objectOf(await stage.create({ name: 'alpha', version: 'v1alpha1', spec: { replicas: 3 } }));
    expect(objectOf(await stage.attempt('GET', stage.path('v1', 'alpha')))).toMatchObject({
      apiVersion: 'hooks.keelson.io/v1',
      spec: { size: { min: 3, max: 3 } },
    });
    objectOf(await stage.create({ name: 'stable', spec: { size: { min: 1, max: 5 } } }));
    expect(objectOf(await stage.attempt('GET', stage.path('v1alpha1', 'stable')))).toMatchObject({
      apiVersion: 'hooks.keelson.io/v1alpha1',
      spec: { replicas: 5 },
    });
    const { items } = await stage.env.adminRequest<{ items: KubeObject[] }>('GET', stage.path('v1alpha1'));
    expect(items.map(({ metadata, spec }) => [metadata.name, spec])).toEqual(
      expect.arrayContaining([
        ['alpha', { replicas: 3 }],
        ['stable', { replicas: 5 }],
      ]),
    );
    // What comes in another version is validated in the stored one.
    expect(await stage.create({ name: 'alpha-big', version: 'v1alpha1', spec: { replicas: 11 } })).toEqual({
      refused: expect.stringContaining('spec.size.max: must be at most 10, is 11'),
    });
  });

  it('lets an instance go that breaks a newer rule, even when nobody answers', async () => {
    const webhooks = await stage.serving();
    objectOf(
      await stage.create({ name: 'legacy', spec: { size: { min: 1, max: 9 } }, finalizers: ['hooks.keelson.io/hold'] }),
    );
    stage.greatest = 5;
    const change = (patch: unknown) =>
      stage.attempt('PATCH', stage.path('v1', 'legacy'), patch, 'application/merge-patch+json');
    expect(await change({ spec: { size: { max: 8 } } })).toEqual({
      refused: expect.stringContaining('must be at most 5'),
    });
    objectOf(await change({ metadata: { labels: { a: 'b' } } }));
    objectOf(await change({ metadata: { finalizers: ['hooks.keelson.io/hold', 'hooks.keelson.io/second'] } }));
    objectOf(await stage.attempt('DELETE', stage.path('v1', 'legacy')));
    await webhooks.stop();
    expect(await change({ spec: { image: 'other' } })).toEqual({
      refused: expect.stringContaining('failed calling webhook'),
    });
    objectOf(await change({ metadata: { finalizers: null } }));
    expect(await stage.attempt('GET', stage.path('v1', 'legacy'))).toEqual({
      refused: expect.stringContaining('not found'),
    });
  });
});

it('given an instance that was stored before there was a webhook, warns of it, and lets it be deleted', async () => {
  objectOf(await stage.create({ name: 'before', spec: { size: { min: 1, max: 99 } } }));
  await stage.serving();
  const kubectl = (...args: string[]) => stage.env.kubectl([...args, '-n', 'shop']);
  // kubectl exits with an error for a warning when told to.
  await expect(kubectl('label', 'pools', 'before', 'a=b', '--warnings-as-errors')).rejects.toThrow(
    'Warning: spec.size.max: must be at most 10, is 99 (let through because the spec was so before',
  );
  const change = (patch: unknown) =>
    stage.attempt('PATCH', stage.path('v1', 'before'), patch, 'application/json-patch+json');
  const { metadata, spec } = objectOf(await stage.attempt('GET', stage.path('v1', 'before')));
  expect([metadata.labels, metadata.generation, spec]).toEqual([{ a: 'b' }, 1, { size: { min: 1, max: 99 } }]);
  expect(await change([{ op: 'replace', path: '/spec/size/max', value: 98 }])).toEqual({
    refused: expect.stringContaining('must be at most 10, is 98'),
  });

  // As the engine holds an instance and lets it go.
  objectOf(await change([{ op: 'add', path: '/metadata/finalizers', value: ['keelson.io/finalizer'] }]));
  objectOf(await stage.attempt('DELETE', stage.path('v1', 'before')));
  objectOf(await change([{ op: 'remove', path: '/metadata/finalizers/0' }]));
  expect(await stage.attempt('GET', stage.path('v1', 'before'))).toEqual({
    refused: expect.stringContaining('not found'),
  });
});

it('at rest writes nothing, reads nothing but watches, and was never forbidden anything', async () => {
  const before = await stage.env.audit.mark();
  await stage.serving();
  const mark = await stage.env.audit.mark();
  await systemClock.sleep(5_000);
  expect((await stage.env.audit.entries({ since: mark, user })).filter(({ verb }) => verb !== 'watch')).toEqual([]);
  expect((await stage.env.audit.entries({ since: before, user })).filter(({ code }) => code === 403)).toEqual([]);
});

describe('of two replicas', () => {
  it('both serve, and only the one that may writes', async () => {
    let leader = 'nobody';
    const fence = (name: string) => ({
      check: () => {
        if (leader !== name) throw new Error('not the leader');
      },
    });
    const written: string[] = [];
    const observer = (name: string) => ({ ...silentObserver, wrote: () => written.push(name) });
    await stage.admin.delete(Secret, secret);
    const first = await stage.start({ fence: fence('first'), observer: observer('first') });
    await until(
      () => first.ready().message.includes('only the leader may make one'),
      () => `a standby that says so: ${first.ready().message}`,
    );
    expect(first.ready().ok).toBe(false);
    const reach = { url: `https://127.0.0.1:${first.port}` };
    const second = await stage.start({ fence: fence('second'), observer: observer('second'), reach });

    leader = 'first';
    await until(
      () => first.ready().ok && second.ready().ok && second.registered().ok,
      () => `both to serve: ${second.ready().message}; ${second.registered().message}`,
    );
    expect(new Set(written)).toEqual(new Set(['first']));

    leader = 'second';
    await stage.admin.delete(ValidatingWebhookConfiguration, configuration);
    await until(
      async () => (await stage.admin.find(ValidatingWebhookConfiguration, configuration)) !== undefined,
      () => 'the new leader to register',
    );
    expect(written.at(-1)).toBe('second');
    const { metadata } = await stage.admin.get(ValidatingWebhookConfiguration, configuration);
    expect(metadata.managedFields?.map(({ manager }) => manager)).toEqual([fieldManager]);
  });
});

describe('with certificates in files', () => {
  let dir: string;
  const authority = issueAuthority({ now: Date.now(), lifetimeMs: 600_000 });
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'keelson-webhooks-'));
    const signer = await authority;
    const serving = await issueCertificate(signer, { now: Date.now(), lifetimeMs: 600_000, names: ['127.0.0.1'] });
    await writeFile(join(dir, 'tls.crt'), serving.certificate.pem);
    await writeFile(join(dir, 'tls.key'), serving.keyPem);
    await writeFile(join(dir, 'ca.crt'), signer.certificate.pem);
  });
  afterAll(() => rm(dir, { recursive: true }));

  it('that bring their authority along, it is registered', async () => {
    const files = { cert: join(dir, 'tls.crt'), key: join(dir, 'tls.key'), ca: join(dir, 'ca.crt') };
    await stage.serving({ certificates: { files } });
    objectOf(await stage.create({ name: 'files', spec: { size: { min: 1, max: 1 } } }));
  });

  it('whose authority others inject, what they inject stays', async () => {
    const files = { cert: join(dir, 'tls.crt'), key: join(dir, 'tls.key') };
    const webhooks = await stage.start({ certificates: { files }, resources: [] });
    await until(
      () => webhooks.registered().ok,
      () => `the registration without a bundle: ${webhooks.registered().message}`,
    );
    const bundle = Buffer.from((await authority).certificate.pem).toString('base64');
    const inject = { op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: bundle } as const;
    const edit = { op: 'replace', path: '/webhooks/0/timeoutSeconds', value: 30 } as const;
    const operations = [inject, edit];
    await stage.admin.patch(ValidatingWebhookConfiguration, configuration, { type: 'json', operations });
    const entry = async () => (await stage.admin.get(ValidatingWebhookConfiguration, configuration)).webhooks?.[0];
    await until(
      async () => (await entry())?.timeoutSeconds === 10,
      () => 'the rest to be put right',
    );
    expect((await entry())?.clientConfig.caBundle).toBe(bundle);
  });
});

describe('what stands in the way is named', () => {
  it('options that cannot work, before anything is started', async () => {
    await expect(stage.start({ reach: { url: 'http://127.0.0.1' } })).rejects.toThrow('must be like https://host:port');
    await expect(stage.start({ reach: () => ({ url: 'here' }) })).rejects.toThrow("'here' is no URL for webhooks");
    await expect(stage.start({ certificates: { secret, servingLifetime: '4380h' } })).rejects.toThrow(
      'at most a quarter',
    );
    await expect(stage.start({ operators: [stage.operator, stage.operator] })).rejects.toThrow(
      'two operators or resources want the webhook /validate/pool',
    );
  });

  it('a Secret that cannot be changed', async () => {
    const fixed = { namespace: secret.namespace, name: 'fixed' };
    await stage.admin.create(Secret, manifest(Secret, fixed, { immutable: true }));
    const webhooks = await stage.start({ client: stage.admin, certificates: { secret: fixed } });
    await until(
      () => webhooks.ready().message.includes('Secret keelson/fixed is immutable'),
      () => `the immutable Secret to be named: ${webhooks.ready().message}`,
    );
    await stage.admin.delete(Secret, fixed);
    await until(
      () => webhooks.ready().ok,
      () => `the Secret to be made anew: ${webhooks.ready().message}`,
    );
  });

  it('a CRD that is not installed, until it is', async () => {
    const versions = [
      { name: 'v1', storage: true, spec: Type.Object({ a: Type.Integer() }) },
      {
        name: 'v1alpha1',
        storage: false,
        spec: Type.Object({ b: Type.Integer() }),
        convert: { toStorage: () => ({ spec: { a: 1 } }), fromStorage: () => ({ spec: { b: 1 } }) },
      },
    ] as const;
    const Late = defineResource({
      group: 'hooks.keelson.io',
      kind: 'Late',
      scope: 'Cluster',
      description: 'Comes late',
      versions,
    });
    const webhooks = await stage.start({ operators: [], resources: [Late], client: stage.admin });
    await until(
      () => webhooks.registered().message.includes('is not installed'),
      () => `the missing CRD to be named: ${webhooks.registered().message}`,
    );
    expect(webhooks.registered()).toEqual({
      ok: false,
      message: 'CustomResourceDefinition lates.hooks.keelson.io is not installed',
    });
    await stage.env.applyCrds([toCrd(Late)]);
    await until(
      () => webhooks.registered().ok,
      () => `the CRD to be registered: ${webhooks.registered().message}`,
    );
  });

  it('a permission that is missing', async () => {
    const account = await stage.env.kubeconfigFor({ serviceAccount: { namespace: 'shop', name: 'nobody' } });
    const client = createClient(await loadConfig({ kubeconfig: account }));
    const webhooks = await stage.start({ client });
    await until(
      () => webhooks.ready().message.includes('lacks the permission'),
      () => `the missing permission to be named: ${webhooks.ready().message}`,
    );
    expect(webhooks.ready().message).toContain('secrets');
    expect(webhooks.registered().message).toContain('ValidatingWebhookConfiguration pool.hooks.keelson.io');
    await webhooks.stop();
    await client.close();
  });
});
