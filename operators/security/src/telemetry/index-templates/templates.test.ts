import { describe, expect, test } from 'vitest';
import { recorded as falco } from '../../features/falco/testing/recorded.ts';
import { recorded as osquery } from '../../features/osquery/testing/recorded.ts';
import { recorded as tetragon } from '../../features/tetragon/testing/recorded.ts';
import type { StoreKind } from '../../store.ts';
import { storeWith } from '../testing/sources.ts';
import { indexTemplates, retentionPolicy, templateFiles } from './templates.ts';

const { indices } = storeWith();
const wish = { days: 30, wantedBy: 'a' };
interface Body {
  readonly index_patterns: readonly string[];
  readonly data_stream?: object;
  readonly template: {
    readonly settings: { readonly index: object };
    readonly mappings: { properties: object; dynamic_templates: object };
  };
}
const bodyOf = (index: string, retained = {}, kind: StoreKind = 'elasticsearch') =>
  indexTemplates(kind, indices, retained).find((one) => one.index === index)?.body as Body;

describe('the index templates', () => {
  test('are one an index, and reach that index and no other', () => {
    const named = { ...indices, events: 'acme-events' };
    expect(indexTemplates('elasticsearch', named).map(({ name, index }) => [name, index])).toEqual([
      ['keelson.acme-events', 'acme-events'],
      ['keelson.security-inventory', 'security-inventory'],
      ['keelson.security-vuln', 'security-vuln'],
      ['keelson.security-dead-letters', 'security-dead-letters'],
    ]);
    for (const { index, body } of indexTemplates('elasticsearch', named))
      expect((body as Body).index_patterns).toEqual([index]);
  });

  test('know every field that the pipeline fills, and let no index grow without end', () => {
    const { settings, mappings } = bodyOf('security-events').template;
    expect(mappings.properties).toMatchObject({
      '@timestamp': { type: 'date' },
      event: { properties: { severity: { type: 'long' } } },
      threat: { properties: { technique: { properties: { id: { type: 'keyword' } } } } },
      orchestrator: { properties: { namespace: { type: 'alias', path: 'kubernetes.namespace' } } },
    });
    expect(settings.index).toEqual({ mapping: { total_fields: { limit: '500' } } });
  });

  test('forgive a malformed value in every number and date but @timestamp, which data streams do not allow to be', () => {
    for (const { index, body } of indexTemplates('elasticsearch', indices)) {
      const { settings, mappings } = (body as Body).template;
      expect(JSON.stringify(settings), index).not.toContain('ignore_malformed');
      const { '@timestamp': timestamp, ...others } = mappings.properties as Record<string, object>;
      expect(timestamp).toEqual({ type: 'date' });
      const typed = JSON.stringify([others, mappings.dynamic_templates]).match(/\{"type":"(date|long|float)"[^}]*\}/g);
      expect(typed?.length, index).toBeGreaterThan(1);
      for (const field of typed ?? []) expect(field).toContain('"ignore_malformed":true');
    }
  });

  test.each([...falco, ...tetragon, ...osquery])('give a type to every field of a document: $kind', ({ shared }) => {
    const { mappings } = bodyOf('security-events').template;
    for (const name of ['security_tool', 'log.file.path', 'log.file.record_offset', ...Object.keys(shared)])
      expect(mappings, name).toHaveProperty(['properties', ...name.split('.').join('.properties.').split('.'), 'type']);
  });

  test('make a series of indices of what is to go by age, and of nothing else', () => {
    const retained = { events: retentionPolicy('elasticsearch', 'security-events', wish) };
    expect(bodyOf('security-events', retained)).toMatchObject({
      data_stream: {},
      template: { settings: { index: { lifecycle: { name: 'keelson.security-events' } } } },
    });
    for (const index of ['security-inventory', 'security-vuln']) expect(bodyOf(index, retained)).toEqual(bodyOf(index));
    expect(bodyOf('security-events').data_stream).toBeUndefined();
    expect(retentionPolicy('elasticsearch', 'security-events', wish)).toMatchObject({
      name: 'keelson.security-events',
      body: { policy: { phases: { delete: { min_age: '30d', actions: { delete: {} } } } } },
    });
  });

  test('say to OpenSearch what it knows: another field for any object, and a policy that names its indices itself', () => {
    expect(JSON.stringify(bodyOf('security-events', {}, 'opensearch'))).toContain('"mapping":{"type":"flat_object"}');
    expect(JSON.stringify(indexTemplates('opensearch', indices))).not.toContain('flattened');
    const policy = retentionPolicy('opensearch', 'security-events', wish);
    expect(policy.body).toMatchObject({
      policy: {
        states: [{ transitions: [{ conditions: { min_rollover_age: '30d' } }] }, { actions: [{ delete: {} }] }],
        ism_template: [{ index_patterns: ['security-events'] }],
      },
    });
    const retained = bodyOf('security-events', { events: policy }, 'opensearch');
    expect(retained.data_stream).toEqual({});
    expect(retained.template.settings).toEqual(bodyOf('security-events', {}, 'opensearch').template.settings);
  });

  test('are files for those who install by hand', () => {
    const files = templateFiles(indices);
    const names = ['security-events', 'security-inventory', 'security-vuln', 'security-dead-letters'];
    expect(files.map(({ path }) => path)).toEqual([
      ...names.map((name) => `deploy/elasticsearch/${name}.json`),
      ...names.map((name) => `deploy/opensearch/${name}.json`),
    ]);
    expect(JSON.parse(files[0]?.content ?? '')).toEqual(bodyOf('security-events'));
  });
});
