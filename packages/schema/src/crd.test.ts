import Type from 'typebox';
import { describe, expect, test } from 'vitest';
import { needsConversion, toCrd } from './crd.ts';
import { defineResource } from './define-resource.ts';
import { Tunnel, Website } from './testing/samples.ts';

describe('toCrd', () => {
  test('puts every part of the definition in its place', () => {
    const crd = toCrd(Website);

    expect(crd).toMatchObject({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'websites.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: {
          kind: 'Website',
          listKind: 'WebsiteList',
          plural: 'websites',
          singular: 'website',
          shortNames: ['web'],
          categories: ['all'],
        },
        conversion: { strategy: 'None' },
      },
    });
    expect(crd.spec.versions).toHaveLength(1);
    expect(crd.spec.versions[0]).toMatchObject({
      name: 'v1alpha1',
      served: true,
      storage: true,
      subresources: {
        status: {},
        scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.readyReplicas' },
      },
      selectableFields: [{ jsonPath: '.spec.host' }],
    });
    expect(crd.spec.versions[0]?.additionalPrinterColumns?.map((column) => column.name)).toEqual([
      'Ready',
      'Host',
      'Pods',
      'Age',
    ]);
  });

  test('is a copy: changing it does not change the resource', () => {
    const crd = toCrd(Website);
    Object.assign(crd.spec.versions[0]?.schema?.openAPIV3Schema ?? {}, { type: 'string' });

    expect(toCrd(Website).spec.versions[0]?.schema?.openAPIV3Schema?.type).toBe('object');
  });

  test('leaves the conversion to whoever runs the webhook, or takes the one it is given', () => {
    const conversion = {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com' } },
    };

    expect([needsConversion(Website), needsConversion(Tunnel)]).toEqual([false, true]);
    expect('conversion' in toCrd(Tunnel).spec).toBe(false);
    expect(toCrd(Tunnel, { conversion }).spec.conversion).toEqual(conversion);
  });

  test('shows Ready and Age when no columns are asked for, and requires a spec unless it has a default', () => {
    const define = (options: { default?: unknown }) =>
      toCrd(
        defineResource({
          group: 'example.com',
          kind: 'Thing',
          version: 'v1',
          scope: 'Cluster',
          description: 'A thing.',
          spec: Type.Object({}, options),
        }),
      ).spec.versions[0];

    expect(define({})?.additionalPrinterColumns?.map((column) => column.name)).toEqual(['Ready', 'Age']);
    expect(define({})?.schema?.openAPIV3Schema?.required).toEqual(['spec']);
    expect(define({ default: {} })?.schema?.openAPIV3Schema?.required).toBeUndefined();
  });
});
