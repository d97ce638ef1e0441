/** Against the real API server: certificates rotate, and whatever somebody does to them or to the registrations is put right. */
import { systemClock } from '@keelson/kube';
import { CustomResourceDefinition, Secret, ValidatingWebhookConfiguration } from '@keelson/schema';
import { startTestEnv } from '@keelson/testenv';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { issueAuthority } from '../certificates/issue.ts';
import { readMaterial, rotate, toSecretData } from '../certificates/material.ts';
import { planRotation } from '../certificates/rotation.ts';
import { silentObserver } from './observer.ts';
import { configuration, openStage, type Stage, secret, slowToRegister, startLoad, until } from './testing/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(await startTestEnv());
});
afterEach(() => stage.clear());
afterAll(() => stage?.close());

const certificateInSecret = async () => (await stage.admin.find(Secret, secret))?.data?.['tls.crt'] ?? '';

describe('a registration that somebody changes is put right', () => {
  it('a webhook configuration, also where applying alone could not', async () => {
    await stage.serving();
    const entries = async () =>
      JSON.stringify((await stage.admin.get(ValidatingWebhookConfiguration, configuration)).webhooks);
    const good = await entries();
    const { certificate } = await issueAuthority({ now: Date.now(), lifetimeMs: 3_600_000 });
    const elsewhere = {
      service: { namespace: 'x', name: 'x' },
      caBundle: Buffer.from(certificate.pem).toString('base64'),
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
      const edited = await stage.admin.patch(ValidatingWebhookConfiguration, configuration, {
        type: 'json',
        operations,
      });
      expect(JSON.stringify(edited.webhooks)).not.toBe(good);
      await until(
        async () => (await entries()) === good,
        () => `the repair of ${operations[0].path}`,
      );
    }
    await stage.admin.delete(ValidatingWebhookConfiguration, configuration);
    await until(
      async () => (await stage.admin.find(ValidatingWebhookConfiguration, configuration)) !== undefined,
      () => 'the configuration to come back',
    );
  });

  it('the conversion of a CRD', async () => {
    await stage.serving();
    const name = 'pools.hooks.keelson.io';
    const conversion = async () => (await stage.admin.get(CustomResourceDefinition, { name })).spec.conversion;
    const good = await conversion();
    expect(good?.webhook?.clientConfig?.caBundle).toBeTruthy();
    const elsewhere = { clientConfig: { url: null, service: { namespace: 'x', name: 'x', path: '/', port: 443 } } };
    for (const edit of [
      { strategy: 'None', webhook: null },
      { strategy: 'Webhook', webhook: elsewhere },
    ]) {
      await stage.admin.patch(
        CustomResourceDefinition,
        { name },
        { type: 'merge', value: { spec: { conversion: edit } } },
      );
      await until(
        async () => JSON.stringify(await conversion()) === JSON.stringify(good),
        () => `the repair of ${JSON.stringify(edit)}`,
      );
    }
  });
});

describe('a Secret that somebody changes is put right, and no request fails', () => {
  const garbage = Buffer.from('garbage').toString('base64');
  it.each([
    ['garbage', { 'tls.crt': garbage, 'tls.key': garbage, 'ca.crt': garbage, 'ca.key': garbage }],
    ['nothing', { 'tls.crt': null, 'tls.key': null, 'ca.crt': null, 'ca.key': null }],
  ])('%s in it', async (_, data) => {
    const webhooks = await stage.serving({ client: slowToRegister(stage.ours, 400) });
    const before = await certificateInSecret();
    const load = startLoad(stage, webhooks);
    await stage.admin.patch(Secret, secret, { type: 'merge', value: { data } });
    await until(
      async () => ![before, garbage, ''].includes(await certificateInSecret()),
      () => 'a new certificate in the Secret',
    );
    await systemClock.sleep(3_000);
    expect(await load.stop()).toMatchObject({ failed: [] });
  });

  it('deleted', async () => {
    const webhooks = await stage.serving({ client: slowToRegister(stage.ours, 400) });
    const before = await certificateInSecret();
    const load = startLoad(stage, webhooks);
    await stage.admin.delete(Secret, secret);
    await until(
      async () => ![before, ''].includes(await certificateInSecret()),
      () => 'a new Secret',
    );
    await systemClock.sleep(3_000);
    expect((await load.stop()).failed).toEqual([]);
  });

  it('put back from an old backup', async () => {
    const webhooks = await stage.serving({ client: slowToRegister(stage.ours, 400) });
    const backup = (await stage.admin.get(Secret, secret)).data ?? {};
    await stage.admin.delete(Secret, secret);
    await until(
      async () => !['', backup['tls.crt']].includes(await certificateInSecret()),
      () => 'a new Secret',
    );
    await systemClock.sleep(2_500);
    const load = startLoad(stage, webhooks);
    await stage.admin.patch(Secret, secret, { type: 'merge', value: { data: backup } });
    await systemClock.sleep(3_000);
    expect(await load.stop()).toMatchObject({ failed: [] });
  });

  it('expired while no replica was running', async () => {
    const policy = {
      authorityLifetimeMs: 4_000_000,
      servingLifetimeMs: 1_000_000,
      propagationMs: 0,
      names: ['127.0.0.1'],
    };
    const long = Date.now() - 8_000_000;
    const plan = planRotation({ material: { authorities: [] }, now: long, policy, trustedSince: () => undefined });
    const data = toSecretData(await rotate({ authorities: [] }, plan, policy, long));
    await stage.admin.patch(Secret, secret, { type: 'merge', value: { data } });
    await stage.serving();
    const { authorities, serving } = readMaterial((await stage.admin.get(Secret, secret)).data);
    expect(authorities).toHaveLength(1);
    expect(serving?.certificate.notAfter).toBeGreaterThan(Date.now());
  });
});

it('replaces authorities and certificates while requests flow, and none fails', async () => {
  let taken = 0;
  const observer = {
    ...silentObserver,
    certificate: ({ which }: { which: string }) => {
      if (which === 'serving') taken += 1;
    },
  };
  const webhooks = await stage.serving({
    certificates: { secret, authorityLifetime: '20s', servingLifetime: '5s', propagation: '200ms' },
    client: slowToRegister(stage.ours, 400),
    observer,
  });
  const load = startLoad(stage, webhooks);
  await until(
    () => load.authorities >= 4,
    () => `three more authorities; there are ${load.authorities}`,
    90_000,
  );
  const { sent, connections, authorities, failed } = await load.stop();
  console.log(
    `rotation under load: ${authorities} authorities, ${taken} certificates, ${sent} requests through the API server, ${connections} fresh connections, ${failed.length} failed`,
  );
  expect(failed).toEqual([]);
  expect(taken).toBeGreaterThanOrEqual(10);
  expect(Math.min(sent, connections)).toBeGreaterThan(100);
}, 120_000);
