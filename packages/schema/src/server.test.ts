import { startTestEnv, type TestEnv } from '@keelson/testenv';
import fc from 'fast-check';
import Type from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  apiVersionOf,
  builtInKinds,
  type CustomResourceDefinition,
  defineResource,
  formatProblems,
  int64,
  type KubeObject,
  parseInstance,
  type Resource,
  storageVersionOf,
  toCrd,
  toSample,
} from './index.ts';
import { resolveNames } from './names.ts';
import { exactlyOneNames } from './structural/exactly-one.ts';
import type { Rule, StructuralSchema } from './structural/schema.ts';
import { valueFor } from './testing/arbitrary.ts';
import { Everything, Tunnel, Website } from './testing/samples.ts';

/** The formats that the server checks, each on a field. */
const Formats = defineResource({
  group: 'plain.example.com',
  kind: 'Format',
  version: 'v1',
  scope: 'Cluster',
  description: 'Every format.',
  spec: Type.Object(
    Object.fromEntries(
      ['date-time', 'date', 'ipv4', 'ipv6', 'cidr', 'uuid', 'byte'].map((format) => [
        format,
        Type.Optional(Type.String({ format })),
      ]),
    ),
  ),
});

/** Defaults in every place where one can stand. */
const Defaults = defineResource({
  group: 'plain.example.com',
  kind: 'Fallback',
  version: 'v1',
  scope: 'Cluster',
  description: 'Defaults everywhere.',
  spec: Type.Object(
    {
      list: Type.Optional(
        Type.Array(Type.Object({ a: Type.String({ default: 'x' }), b: Type.Optional(Type.Integer()) }), {
          maxItems: 3,
        }),
      ),
      scalars: Type.Array(Type.String({ default: 'item' }), { default: ['one'] }),
      map: Type.Optional(Type.Record(Type.String(), Type.Object({ on: Type.Boolean({ default: false }) }))),
      values: Type.Optional(Type.Record(Type.String(), Type.Integer({ default: 7 }))),
      deep: Type.Object(
        { deep: Type.Object({ deep: Type.Object({ n: int64({ default: 1 }) }, { default: {} }) }, { default: {} }) },
        { default: { deep: { deep: { n: 2 } } } },
      ),
      open: Type.Optional(
        Type.Object(
          {
            known: Type.String({ default: 'k' }),
            inner: Type.Optional(Type.Object({ a: Type.Optional(Type.String()) })),
          },
          { additionalProperties: true },
        ),
      ),
    },
    { default: {} },
  ),
});

/** The same resource in a group of its own, and its CRD without the rules that only the server evaluates. */
const Plain: Resource = { ...Everything, group: 'plain.example.com' };

function withoutRules(crd: CustomResourceDefinition): CustomResourceDefinition {
  const keep = (rule: Rule): boolean => exactlyOneNames({ 'x-kubernetes-validations': [rule] }).length > 0;
  const text = JSON.stringify(crd, (key, value: unknown) =>
    key === 'x-kubernetes-validations' ? (value as Rule[]).filter(keep) : value,
  );
  return JSON.parse(text) as CustomResourceDefinition;
}

let env: TestEnv;

beforeAll(async () => {
  const tunnel = toCrd(Tunnel, {
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/convert' } },
    },
  });
  env = await startTestEnv({
    crds: [toCrd(Website), toCrd(Everything), tunnel, withoutRules(toCrd(Plain)), toCrd(Formats), toCrd(Defaults)],
  });
});

afterAll(async () => {
  await env?.stop();
});

function pathOf(resource: Resource, namespace = 'default', name?: string): string {
  const place = resource.scope === 'Namespaced' ? `/namespaces/${namespace}` : '';
  return `/apis/${apiVersionOf(resource)}${place}/${resource.plural}${name === undefined ? '' : `/${name}`}`;
}

async function create(
  resource: Resource,
  object: unknown,
): Promise<{ ok: true; object: KubeObject } | { ok: false; message: string }> {
  return env.adminRequest<KubeObject>('POST', `${pathOf(resource)}?dryRun=All`, object).then(
    (answer) => ({ ok: true, object: answer }),
    (error: Error) => ({ ok: false, message: error.message }),
  );
}

function objectOf(resource: Resource, spec: unknown, name = 'example'): KubeObject {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name }, spec };
}

describe('a generated CRD', () => {
  test.each([Website, Everything, Tunnel, Formats, Defaults])(
    'of $kind is kept by the server letter for letter',
    async (resource: Resource) => {
      const live = await env.adminRequest<CustomResourceDefinition>(
        'GET',
        `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${resource.plural}.${resource.group}`,
      );

      for (const [index, version] of resource.versions.entries())
        expect(live.spec.versions[index]?.schema?.openAPIV3Schema).toEqual(version.schema);
      expect(live.spec.names).toEqual({
        kind: resource.kind,
        listKind: resource.listKind,
        plural: resource.plural,
        singular: resource.singular,
        ...(resource.shortNames.length > 0 && { shortNames: resource.shortNames }),
        ...(resource.categories.length > 0 && { categories: resource.categories }),
      });
      expect((await create(resource, toSample(resource))).ok || resource === (Tunnel as Resource)).toBe(true);
    },
  );

  test('warns clients of a deprecated version', async () => {
    const live = await env.adminRequest<CustomResourceDefinition>(
      'GET',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tunnels.example.com',
    );

    expect(live.spec.versions[0]).toMatchObject({
      deprecated: true,
      deprecationWarning: 'example.com/v1alpha1 Tunnel is deprecated; use example.com/v1 Tunnel',
    });
    expect(live.spec.conversion?.strategy).toBe('Webhook');
  });

  test('has columns, short names, field selectors, a status and a scale that kubectl can use', async () => {
    const namespace = await env.createNamespace();
    const spec = { host: 'shop.example', pages: {} };
    await env.adminRequest('POST', pathOf(Website, namespace), objectOf(Website, spec, 'shop'));
    await env.adminRequest('POST', pathOf(Website, namespace), objectOf(Website, { ...spec, host: 'other' }, 'other'));
    await env.adminRequest('PATCH', `${pathOf(Website, namespace, 'shop')}/status`, {
      status: {
        readyReplicas: 1,
        observedGeneration: 1,
        conditions: [{ type: 'Ready', status: 'True', reason: 'Up', message: '' }],
      },
    });

    await env.kubectl(['scale', 'web/shop', '--replicas=3', '-n', namespace]);
    const shown = await env.kubectl([
      'get',
      'web',
      '-n',
      namespace,
      '-o',
      'wide',
      '--field-selector',
      'spec.host=shop.example',
    ]);

    expect(shown).toMatch(/NAME +READY +HOST +PODS +AGE\nshop +True +shop\.example +1 +\d+s\n$/);
    expect(await env.adminRequest('GET', pathOf(Website, namespace, 'shop'))).toMatchObject({ spec: { replicas: 3 } });
  });

  test('lets an operator write conditions alone', async () => {
    const namespace = await env.createNamespace();
    await env.adminRequest('POST', pathOf(Website, namespace), objectOf(Website, { host: 'h', pages: {} }));
    const status = { conditions: [{ type: 'Ready', status: 'False', reason: 'Waiting', message: 'not yet' }] };

    const answer = await env.adminRequest('PATCH', `${pathOf(Website, namespace, 'example')}/status`, { status });

    expect(answer).toMatchObject({ status });
  });

  test.each([
    ['a rule about the whole object', Everything, objectOf(Everything, {}, 'forbidden'), /this name is not allowed/],
    [
      'a rule about the spec, with the field to blame',
      Everything,
      objectOf(Everything, { choice: 'large' }),
      /spec\.level: Required value: large needs a level/,
    ],
    [
      'a rule about an item',
      Everything,
      objectOf(Everything, { features: [{ name: 'a', enabled: false, config: {} }] }),
      /spec\.features\[0\].*a feature that is off takes no config/,
    ],
    [
      'exactly one of several',
      Everything,
      objectOf(Everything, { auth: {} }),
      /exactly one of secretRef, apiKey must be set/,
    ],
    [
      'one of several variants',
      Everything,
      objectOf(Everything, { shape: { kind: 'circle' } }),
      /spec\.shape\.radius: Required value/,
    ],
  ])('refuses what breaks %s', async (_, resource, object, message) => {
    const answer = await create(resource, object);

    expect(answer.ok ? 'accepted' : answer.message).toMatch(message);
  });

  test('refuses to change what is immutable', async () => {
    await env.adminRequest('POST', pathOf(Everything), objectOf(Everything, { fixed: 'a' }, 'fixed'));

    await expect(env.adminRequest('PATCH', pathOf(Everything, '', 'fixed'), { spec: { fixed: 'b' } })).rejects.toThrow(
      /spec\.fixed.*cannot be changed/,
    );
  });
});

describe('offline validation agrees with the server', () => {
  /** Known and wanted: the server lets a list pass where a string with a format is expected. */
  const knownDifference = / must be a string, got a list$/;

  test.each([
    [Plain, 1200],
    [Formats, 300],
    [Defaults, 500],
  ])('on random objects (%#)', { timeout: 180_000 }, async (resource: Resource, numRuns) => {
    const spec = storageVersionOf(resource).schema.properties?.spec ?? ({} as StructuralSchema);
    const seen = { accepted: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(valueFor(spec), { minLength: 1, maxLength: 10 }), async (specs) => {
        await Promise.all(
          specs.map(async (value) => {
            const object = objectOf(resource, value);
            const [answer, parsed] = [await create(resource, object), parseInstance(resource, object)];
            const problems = parsed.ok ? '' : formatProblems(parsed.problems);
            if (answer.ok && problems.split('\n').some((line) => knownDifference.test(line))) return;
            expect({
              ok: parsed.ok,
              problems,
              spec: parsed.ok ? parsed.instance.spec : undefined,
              server: answer.ok ? '' : answer.message,
            }).toEqual({
              ok: answer.ok,
              problems,
              spec: answer.ok ? answer.object.spec : undefined,
              server: answer.ok ? '' : answer.message,
            });
            seen[answer.ok ? 'accepted' : 'refused'] += 1;
          }),
        );
      }),
      { numRuns: numRuns / 10 },
    );
    expect(seen.accepted, JSON.stringify(seen)).toBeGreaterThan(numRuns / 50);
    expect(seen.refused, JSON.stringify(seen)).toBeGreaterThan(numRuns / 50);
  });

  test('on names, labels and annotations', { timeout: 180_000 }, async () => {
    const key = fc.oneof(
      fc.constantFrom('a', 'app.kubernetes.io/name', 'A/b', 'a/b/c', '-a', 'a_', '/a', 'a/', 'x'.repeat(64)),
      fc.string({ maxLength: 4 }),
    );
    const value = fc.oneof(fc.constantFrom('', 'a', 'a b', 'a_b', '-a', 'x'.repeat(64)), fc.string({ maxLength: 4 }));
    const metadata = fc.record(
      {
        name: fc.oneof(
          fc.constantFrom('a', 'a.b', 'A', 'a_b', '-a', 'a-', '', 'a..b', 'x'.repeat(254)),
          fc.string({ maxLength: 3 }),
        ),
        labels: fc.dictionary(key, value, { maxKeys: 2 }),
        annotations: fc.dictionary(key, fc.string(), { maxKeys: 2 }),
      },
      { requiredKeys: ['name'] },
    );
    await fc.assert(
      fc.asyncProperty(metadata, async (given) => {
        const object = { ...objectOf(Defaults, {}), metadata: given };
        const [answer, parsed] = [await create(Defaults, object), parseInstance(Defaults, object)];
        expect({
          ok: parsed.ok,
          server: answer.ok ? '' : answer.message,
          problems: parsed.ok ? '' : formatProblems(parsed.problems),
        }).toMatchObject({ ok: answer.ok });
      }),
      { numRuns: 200 },
    );
  });
});

describe('the built-in kinds', () => {
  test.each(builtInKinds.map((kind) => [kind.kind, kind] as const))('%s is served as we name it', async (_, kind) => {
    const list = await env.adminRequest<{
      resources: { name: string; kind: string; namespaced: boolean; shortNames?: string[] }[];
    }>('GET', kind.group === '' ? '/api/v1' : `/apis/${apiVersionOf(kind)}`);

    expect(list.resources.find((resource) => resource.name === kind.plural)).toMatchObject({
      kind: kind.kind,
      namespaced: kind.scope === 'Namespaced',
    });
  });

  test('every short name of theirs is one that a resource may not take', async () => {
    const lines = (await env.kubectl(['api-resources', '--no-headers']))
      .split('\n')
      .filter((line) => !line.includes('example.com'));
    const shortNames = lines.flatMap((line) =>
      line.trim().split(/\s+/).length === 5 ? (line.trim().split(/\s+/)[1] ?? '').split(',') : [],
    );

    const isRefused = (short: string): boolean => {
      try {
        resolveNames({ group: 'example.com', kind: 'Thing', shortNames: [short] });
        return false;
      } catch {
        return true;
      }
    };
    expect(shortNames.length).toBeGreaterThan(20);
    expect(shortNames.filter((short) => !isRefused(short))).toEqual([]);
  });
});
