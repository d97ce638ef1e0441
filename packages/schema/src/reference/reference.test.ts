import Type from 'typebox';
import { describe, expect, test } from 'vitest';
import { defineResource } from '../define-resource.ts';
import { exactlyOneOf } from '../fields.ts';
import { Everything, Tunnel, Website } from '../testing/samples.ts';
import { toReference } from './reference.ts';
import { toSample } from './sample.ts';
import { toYaml } from './yaml.ts';

describe('the reference page', () => {
  const page = toReference(Website);

  test.each([
    ['names', '| kubectl get | `websites` `website` `web` |'],
    [
      'the sample',
      '```yaml\napiVersion: example.com/v1alpha1\nkind: Website\nmetadata:\n  name: example\n  namespace: default\nspec:\n  host: example\n  pages: {}\n```',
    ],
    [
      'type, default, description and limits',
      '| `spec.replicas` | integer (int32) | `1` | How many pods serve it. At least 1, at most 10. |',
    ],
    ['what is required', '| `spec.host` **required** | string |'],
    ['alternatives', 'Where the certificate comes from. Exactly one of `secretRef`, `issuer`.'],
    ['fields of fields', '| `spec.tls.secretRef.name` **required** | string |'],
    ['the status', '| `status.conditions[].type` **required** | string |'],
    ['rules', '| the whole object | `self.metadata.name.size() <= 40` | the name may have at most 40 characters |'],
    ['columns', '| Pods | `.status.readyReplicas` |  (with `-o wide`) |'],
    ['scale', '`kubectl scale` sets `.spec.replicas`'],
    ['field selectors', 'Field selectors: `spec.host`.'],
  ])('has %s', (_, line) => {
    expect(page).toContain(line);
  });

  test('has every version, and says what to use instead', () => {
    const reference = toReference(Tunnel);

    expect(reference).toContain(
      '| `v1alpha1` | served | example.com/v1alpha1 Tunnel is deprecated; use example.com/v1 Tunnel |',
    );
    expect(reference).toContain('## example.com/v1alpha1\n\n### Spec');
  });

  test('tells variants and keeps tables whole', () => {
    const reference = toReference(Everything);

    expect(reference).toContain('`kind` `circle` takes `radius`; `kind` `square` takes `side`');
    expect(reference).toContain("`self.choice != 'large' \\|\\| has(self.level)`");
    const rows = reference.split('\n').filter((line) => line.startsWith('| `spec.'));
    for (const row of rows) expect(row.match(/(?<!\\)\|/g)?.length, row).toBeLessThanOrEqual(5);
  });
});

describe('the sample', () => {
  const define = (spec: ReturnType<typeof Type.Object>) =>
    defineResource({
      group: 'example.com',
      kind: 'Thing',
      version: 'v1',
      scope: 'Cluster',
      description: 'A thing.',
      spec,
    });

  test('uses the examples of its author', () => {
    expect(
      toSample(
        define(
          Type.Object({
            code: Type.String({ pattern: '^[0-9]{4}$', examples: ['1234'] }),
            more: Type.Optional(Type.Object({ a: Type.Integer({ examples: [5] }) })),
          }),
        ),
      ).spec,
    ).toEqual({ code: '1234', more: { a: 5 } });
  });

  test('shows one of what excludes each other: the first that has an example', () => {
    const host = Type.Object({ host: Type.String({ examples: ['a.b'] }) });
    const samples = [
      { x: Type.String(), y: host, z: host },
      { x: Type.String(), y: Type.String() },
    ].map((choices) => toSample(define(Type.Object({ to: exactlyOneOf(choices) }))).spec);
    expect(samples).toEqual([{ to: { y: { host: 'a.b' } } }, { to: { x: 'example' } }]);
  });

  test('that cannot be made is told with the field', () => {
    expect(() => toSample(define(Type.Object({ code: Type.String({ pattern: '^[0-9]{4}$' }) })))).toThrow(
      /Thing: no sample can be made: spec\.code: must match.*examples/,
    );
  });
});

describe('YAML', () => {
  test.each([
    [{ a: [1, { b: 'x', c: [] }, ['y']] }, 'a:\n  - 1\n  - b: x\n    c: []\n  - - "y"'],
    [
      { yes: 'no', n: '1', t: 'true', s: 'a: b', e: '', u: 'https://a.b/c', h: 'a #b' },
      '"yes": "no"\n"n": "1"\nt: "true"\ns: "a: b"\ne: ""\nu: https://a.b/c\nh: "a #b"',
    ],
    [{}, '{}'],
  ])('%j', (value, expected) => {
    expect(toYaml(value)).toBe(expected);
  });
});
