import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { defineResource, parseInstance, Type } from './index.ts';
import {
  check,
  checkPlugin,
  crd,
  objects,
  page,
  permissions,
  service,
  Tunnel,
  upgrade,
  Website,
} from './testing/readme.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const source = readFileSync(new URL('./testing/readme.ts', import.meta.url), 'utf8');
const regions = [...source.matchAll(/\/\/ #region (\w+)\n([\s\S]*?)\n\/\/ #endregion/g)].map(
  (match) => [match[1] ?? '', (match[2] ?? '').trim().replaceAll('../index.ts', '@keelson/schema')] as const,
);

describe('the README', () => {
  test.each(regions)('shows the example "%s" as it was run here', (_, code) => {
    expect(readme).toContain(`\`\`\`ts\n${code}\n\`\`\``);
  });

  test('shows no code that was not run', () => {
    expect(readme.match(/```ts\n/g)).toHaveLength(regions.length);
  });

  test('quotes an error that is really thrown', () => {
    const source = Type.Union([Type.Object({ git: Type.String() }), Type.Object({ image: Type.String() })]);
    const spec = Type.Object({ plugins: Type.Array(Type.Object({ source })) });
    const define = (): unknown =>
      defineResource({
        group: 'example.com',
        kind: 'Website',
        version: 'v1alpha1',
        scope: 'Namespaced',
        description: 'A web site.',
        spec,
      });

    const [quoted = ''] = /Website v1alpha1: [^`]*/.exec(readme) ?? [];
    expect(define).toThrow(quoted.trim().replace(/\s+/g, ' '));
  });

  test('tells the truth about what the examples do', () => {
    const site = {
      apiVersion: 'example.com/v1alpha1',
      kind: 'Website',
      metadata: { name: 'shop' },
      spec: { host: 'shop.example.com' },
    };
    const messages = check({
      ...site,
      spec: { host: 'shop.example.com', replicas: 0, plugins: [{ name: 'a' }, { name: 'a' }] },
    });
    const parsed = parseInstance(Website, site);

    expect(readme).toContain(messages);
    expect(check(site)).toBe('1 pods');
    const plugins = [{ name: 'a' }, { name: 'cache', config: { ttl: 5, path: ['/'] } }];
    const plugged = parseInstance(Website, { ...site, spec: { ...site.spec, plugins } });
    if (!plugged.ok) throw new Error('the config is free-form');
    expect(readme).toContain(checkPlugin(plugged.instance, 1));
    expect(checkPlugin(plugged.instance, 0)).toBe('pages live for 5m');
    expect(parsed.ok && service(parsed.instance).spec.ports?.[0]?.port).toBe(80);
    expect(crd.metadata.name).toBe('websites.example.com');
    expect(page).toContain('# Website');
    expect(
      upgrade({
        apiVersion: 'example.com/v1alpha1',
        kind: Tunnel.kind,
        metadata: { name: 't' },
        spec: { address: 'db:5432' },
      }),
    ).toMatchObject({ ok: true, object: { spec: { endpoint: { host: 'db', port: 5432 } } } });
    expect(objects).toHaveLength(5);
    expect(permissions).toContain('signs in to the registry');
  });
});
