import { defineResource, Type, toCrd } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { issueAuthority } from '../certificates/issue.ts';
import { namesOf, toConversion, toWebhookConfigurations } from './registration.ts';
import type { Reviewed } from './review.ts';

const authority = await issueAuthority({ now: Date.now(), lifetimeMs: 60_000 });
const bundle = authority.certificate.pem;
const caBundle = Buffer.from(bundle).toString('base64');

const Shop = defineResource({
  group: 'example.io',
  kind: 'Shop',
  scope: 'Cluster',
  description: 'A shop',
  versions: [
    { name: 'v1', storage: true, spec: Type.Object({ replicas: Type.Integer() }) },
    {
      name: 'v1alpha1',
      storage: false,
      spec: Type.Object({ count: Type.Integer() }),
      convert: { toStorage: ({ spec }) => ({ spec }), fromStorage: ({ spec }) => ({ spec }) },
    },
  ],
});
const shop: Reviewed = {
  name: 'shop',
  resource: Shop,
  admission: { validate: () => ({}), mutate: ({ object }) => object.spec },
};

describe('toWebhookConfigurations', () => {
  it('spells out everything, for the stored version, with what the API server must trust', () => {
    const [mutating, validating] = toWebhookConfigurations([shop], { url: 'https://127.0.0.1:9443/' }, bundle);
    expect(validating).toMatchObject({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'shop.example.io', labels: { 'app.kubernetes.io/managed-by': 'keelson-webhooks' } },
      webhooks: [
        {
          name: 'validate.shop.example.io',
          clientConfig: { url: 'https://127.0.0.1:9443/validate/shop', caBundle },
          rules: [
            {
              operations: ['CREATE', 'UPDATE'],
              apiGroups: ['example.io'],
              apiVersions: ['v1'],
              resources: ['shops'],
              scope: 'Cluster',
            },
          ],
          failurePolicy: 'Fail',
          matchPolicy: 'Equivalent',
          sideEffects: 'None',
          timeoutSeconds: 10,
          admissionReviewVersions: ['v1'],
        },
      ],
    });
    expect(mutating).toMatchObject({
      kind: 'MutatingWebhookConfiguration',
      webhooks: [
        {
          name: 'mutate.shop.example.io',
          reinvocationPolicy: 'IfNeeded',
          clientConfig: { url: 'https://127.0.0.1:9443/mutate/shop' },
        },
      ],
    });
  });

  it('registers only what an operator has', () => {
    expect(toWebhookConfigurations([{ name: 'shop', resource: Shop }], { url: 'https://h' })).toEqual([]);
    const only: Reviewed = {
      ...shop,
      admission: { validate: () => ({}), operations: ['DELETE'], failurePolicy: 'Ignore', timeoutSeconds: 3 },
    };
    expect(toWebhookConfigurations([only], { url: 'https://h' })).toMatchObject([
      {
        kind: 'ValidatingWebhookConfiguration',
        webhooks: [{ rules: [{ operations: ['DELETE'] }], failurePolicy: 'Ignore', timeoutSeconds: 3 }],
      },
    ]);
  });

  it('reaches us through a Service, and leaves the bundle out when somebody else sets it', () => {
    const [{ webhooks: [entry] = [] } = {}] = toWebhookConfigurations([shop], {
      service: { namespace: 'keelson', name: 'webhooks' },
    });
    expect(entry?.clientConfig).toEqual({
      service: { namespace: 'keelson', name: 'webhooks', path: '/mutate/shop', port: 443 },
    });
  });

  it.each(['http://127.0.0.1:9443', 'https://user@host', 'https://host?x=1', 'host:9443', ''])(
    "refuses the URL '%s' and says what is one",
    (url) => {
      expect(() => toWebhookConfigurations([shop], { url })).toThrow(/must be like https:\/\/host:port/);
    },
  );

  it('refuses a bundle without a certificate', () => {
    expect(() => toWebhookConfigurations([shop], { url: 'https://h' }, '')).toThrow(/holds no certificate/);
    expect(() => toConversion(Shop, { url: 'https://h' }, 'garbage')).toThrow(/holds no certificate/);
  });

  it('refuses to be asked about nothing', () => {
    const admission = { validate: () => ({}), operations: [] };
    expect(() => toWebhookConfigurations([{ ...shop, admission }], { url: 'https://h' })).toThrow(
      /operator 'shop': admission.operations is empty/,
    );
  });

  it('refuses a time-out that the API server would refuse', () => {
    expect(() =>
      toWebhookConfigurations([{ ...shop, admission: { validate: () => ({}), timeoutSeconds: 31 } }], {
        url: 'https://h',
      }),
    ).toThrow(/operator 'shop': admission.timeoutSeconds is 31/);
  });
});

it('gives the CRD its conversion webhook', () => {
  const conversion = toConversion(Shop, { service: { namespace: 'keelson', name: 'webhooks', port: 8443 } }, bundle);
  expect(toCrd(Shop, { conversion }).spec.conversion).toEqual({
    strategy: 'Webhook',
    webhook: {
      conversionReviewVersions: ['v1'],
      clientConfig: {
        service: { namespace: 'keelson', name: 'webhooks', path: '/convert/shops.example.io', port: 8443 },
        caBundle,
      },
    },
  });
});

it.each([
  [
    { service: { namespace: 'keelson', name: 'webhooks' } },
    ['webhooks.keelson.svc', 'webhooks.keelson', 'webhooks.keelson.svc.cluster.local'],
  ],
  [{ url: 'https://127.0.0.1:9443' }, ['127.0.0.1']],
  [{ url: 'https://[::1]:9443/base' }, ['::1']],
  [{ url: 'https://Hooks.example.io' }, ['hooks.example.io']],
])('knows the names in the certificate for %j', (reach, names) => {
  expect(namesOf(reach)).toEqual(names);
});
