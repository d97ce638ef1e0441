import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  type ConfigMap,
  Deployment,
  type Event,
  type KubeObject,
  manifest,
  Namespace,
  type Secret,
  type Service,
} from './index.ts';
import { apiVersionOf, type InstanceOf, type Kind } from './kind.ts';

describe('built-in kinds', () => {
  test('an object of a kind is built with its apiVersion and kind, and its fields are checked', () => {
    const deployment = manifest(
      Deployment,
      { name: 'web', namespace: 'shop' },
      {
        spec: {
          replicas: 2,
          selector: { matchLabels: { app: 'web' } },
          template: { spec: { containers: [{ name: 'web', image: 'nginx' }] } },
        },
      },
    );

    expect(deployment.apiVersion).toBe('apps/v1');
    expect(deployment.kind).toBe('Deployment');
    expect(apiVersionOf(Namespace)).toBe('v1');
    expectTypeOf(deployment).toEqualTypeOf<Deployment>();
    expectTypeOf(deployment.spec.replicas).toEqualTypeOf<number | undefined>();
  });

  test('the type of a kind is a plain object type: assignable to KubeObject, its keys known', () => {
    expectTypeOf<Deployment>().toExtend<KubeObject>();
    expectTypeOf<Secret>().toExtend<KubeObject>();
    expectTypeOf<ConfigMap>().toExtend<KubeObject>();
    expectTypeOf<Kind<Deployment>>().toExtend<Kind>();
    expectTypeOf<InstanceOf<typeof Service>['spec']['type']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Event['apiVersion']>().toEqualTypeOf<'events.k8s.io/v1'>();
    expectTypeOf<Omit<Deployment, 'status'>>().toHaveProperty('spec');
    expectTypeOf<Parameters<typeof manifest<Deployment>>[2]>().not.toExtend<{ replicas: number }>();
    expectTypeOf<{ spec: { replicas: string } }>().not.toExtend<Parameters<typeof manifest<Deployment>>[2]>();
  });
});
