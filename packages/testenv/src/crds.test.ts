import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensurePart } from '@keelson/testbed';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEnv, type TestEnv } from './index.ts';

const definition = (plural: string, kind: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.test` },
  spec: {
    group: 'example.test',
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
      { name: 'v3', served: false, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
});

describe('CustomResourceDefinitions', () => {
  let env: TestEnv;
  beforeAll(async () => {
    env = await startTestEnv();
  });
  afterAll(() => env.stop());

  const items = async (path: string) => (await env.adminRequest<{ items: unknown[] }>('GET', path)).items;

  test('come out of a folder at any depth, several to a file, and every served version answers at once', async () => {
    const folder = join(env.dir, 'tmp', 'definitions');
    await mkdir(join(folder, 'deep', 'deeper'), { recursive: true });
    const document = (value: object) => `---\n${JSON.stringify(value)}\n`;
    await writeFile(
      join(folder, 'deep', 'deeper', 'two.yaml'),
      document(definition('apples', 'Apple')) + document(definition('pears', 'Pear')),
    );
    await writeFile(join(folder, 'one.json'), JSON.stringify(definition('plums', 'Plum')));
    await writeFile(join(folder, 'other.yaml'), document({ kind: 'Values', fruit: 'quince' }));
    await writeFile(join(folder, 'README.md'), 'not a definition');
    await env.applyCrds([folder]);
    for (const plural of ['apples', 'pears', 'plums']) {
      expect(await items(`/apis/example.test/v1/${plural}`)).toEqual([]);
      expect(await items(`/apis/example.test/v2/${plural}`)).toEqual([]);
    }
  });

  test('of upstream are all accepted, and their kinds are served where we look for them, and told of in discovery', async () => {
    await env.applyCrds([(await ensurePart('crds')).path]);
    const served = [
      'cilium.io/v1alpha1/tracingpolicies',
      'cilium.io/v1alpha1/tracingpoliciesnamespaced',
      'aquasecurity.github.io/v1alpha1/vulnerabilityreports',
      'aquasecurity.github.io/v1alpha1/configauditreports',
      'kyverno.io/v1/clusterpolicies',
      'policies.kyverno.io/v1/validatingpolicies',
      'wgpolicyk8s.io/v1alpha2/policyreports',
      'wgpolicyk8s.io/v1alpha2/clusterpolicyreports',
    ];
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const discovered = JSON.stringify(await env.adminRequest('GET', '/apis', undefined, { headers: { accept } }));
    for (const path of served) expect(discovered, path).toContain(`"resource":"${path.split('/').at(-1)}"`);
    for (const path of served) expect(await items(`/apis/${path}`), path).toEqual([]);
  }, 180_000);
});
