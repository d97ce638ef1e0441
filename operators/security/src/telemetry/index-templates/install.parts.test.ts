/** The index templates in real stores: they hold whatever tools may write, and come back when somebody changes them. */
import { type SearchStore, startElasticsearch, startOpenSearch } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeWith } from '../testing/sources.ts';
import { installTemplates } from './install.ts';
import { indexTemplates, retentionPolicy } from './templates.ts';

const context = { read: { find: async () => undefined }, signal: new AbortController().signal, memory: new Map() };

describe.each([
  { kind: 'elasticsearch' as const, start: startElasticsearch, lifecycles: 'lifecycle management' },
  { kind: 'opensearch' as const, start: startOpenSearch, lifecycles: 'index state management' },
])('$kind', ({ kind, start, lifecycles }) => {
  let store: SearchStore;
  beforeAll(async () => {
    store = await start();
  });
  afterAll(() => store?.stop());

  async function ask(method: string, path: string, body?: object) {
    const answer = await fetch(`${store.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  const install = (more = {}) =>
    installTemplates(
      { store: storeWith({ url: store.url, ...more }, kind), agent: 'a', namespace: 'default' },
      context,
    );

  /** How many fields the mapping of an index has, those of objects counted in. */
  async function fieldsOf(index: string): Promise<number> {
    const { body } = await ask('GET', `/${index}/_mapping`);
    const count = (properties: Readonly<Record<string, { properties?: never }>> = {}): number =>
      Object.values(properties).reduce((sum, { properties: inner }) => sum + 1 + count(inner), 0);
    return count((body as Record<string, { mappings: { properties: never } }>)[index]?.mappings.properties);
  }

  const stored = (document: object, index = 'security-events') =>
    ask('POST', `/${index}/_doc?refresh=true`, { '@timestamp': '2026-05-01T10:00:00.123456789Z', ...document });

  const found = async (query: object, index = 'security-events') =>
    ((await ask('POST', `/${index}/_search`, { query })).body as { hits: { hits: unknown[] } }).hits.hits.length;

  test('are in place, and what somebody changes or deletes is put right', async () => {
    const template = '/_index_template/keelson.security-events';
    expect(await install()).toMatchObject({ remarks: [] });
    const before = (await ask('GET', template)).body;

    await ask('PUT', template, { index_patterns: ['security-events'], priority: 300, template: {} });
    expect((await ask('GET', template)).body).not.toEqual(before);
    await install();
    expect((await ask('GET', template)).body).toEqual(before);

    await ask('DELETE', template);
    await install();
    expect((await ask('GET', template)).body).toEqual(before);
  });

  test('any event is held, whatever it is made of, and none adds fields', async () => {
    await stored({ security_tool: 'falco', falco: { rule: 'first' } });
    const fields = await fieldsOf('security-events');
    const deep = Array.from({ length: 60 }).reduce<object>((inner) => ({ deeper: inner }), { end: 'found' });
    const odd = [
      { falco: { rule: { nested: true }, tags: 'one' } },
      { falco: { rule: ['list', 1, null, { a: 1 }], time: 'yesterday' } },
      { falco: { rule: 42, output_fields: { 'k8s.ns.name': 'x', 'k8s.ns': 'y', k8s: 'z' } } },
      { falco: { long: 'x'.repeat(8_000) } },
      { falco: deep },
      { falco: Object.fromEntries(Array.from({ length: 5000 }, (_, key) => [`field-${key}`, key])) },
      { falco: {} },
      { message: 'x'.repeat(1_000_000), event: { kind: 'pipeline_error' } },
      { rule: { name: 'x'.repeat(100_000) } },
      { event: { severity: 'not a number' } },
    ];
    for (const document of odd) expect(await stored(document)).toMatchObject({ status: 201 });
    expect(await fieldsOf('security-events')).toBe(fields);
    // The event of a tool that nobody has heard of takes one field.
    for (const number of [1, 2, 3]) await stored({ newcomer: { [`field${number}`]: number } });
    expect(await fieldsOf('security-events')).toBe(fields + 1);
    // Nor does the first number of a field that nobody has heard of decide about those that follow.
    for (const value of [1, 'one']) expect(await stored({ heard: value, said: 0.5 })).toMatchObject({ status: 201 });
    for (const value of ['half', 1]) expect(await stored({ said: value })).toMatchObject({ status: 201 });
  });

  test('what is in the event of a tool is found by its path, and shared fields by their other names', async () => {
    await stored({
      falco: { tags: ['T1611', 'container'], output_fields: { 'user.name': 'mallory' } },
      'kubernetes.namespace': 'shop',
      'event.severity': 13,
    });
    expect(await found({ term: { 'falco.tags': 'T1611' } })).toBe(1);
    expect(await found({ term: { 'falco.output_fields.user.name': 'mallory' } })).toBe(1);
    expect(await found({ term: { 'orchestrator.namespace': 'shop' } })).toBe(1);
    expect(await found({ range: { 'event.severity': { gte: 13 } } })).toBe(1);
  });

  test('a vulnerability that the store could not read a date of is still held', async () => {
    const document = {
      vulnerability: {
        id: 'CVE-2026-1',
        status: 'open',
        score: { base: 9.8 },
        published_date: 'soon',
        title: '2026-05-01',
      },
    };
    expect(await stored(document, 'security-vuln')).toMatchObject({ status: 201 });
    expect(await found({ range: { 'vulnerability.score.base': { gte: 9 } } }, 'security-vuln')).toBe(1);
  });

  test('a store without lifecycle management is told of, and so is an index that is older than its template', async () => {
    await ask('PUT', '/acme-events', {});
    const indices = {
      events: 'acme-events',
      inventory: 'acme-inventory',
      vulnerability: 'acme-vuln',
      deadLetters: 'acme-dead',
    };
    expect(await install({ indices, retentionDays: { events: 30 } })).toEqual({
      templates: ['keelson.acme-events', 'keelson.acme-inventory', 'keelson.acme-vuln', 'keelson.acme-dead'],
      remarks: [
        expect.stringContaining(`the store has no ${lifecycles}`),
        'acme-events is older than its template and keeps its own mapping: reindex it, or delete it',
      ],
    });
  });

  test('a dead letter holds a text of any length, and is found by its reason', async () => {
    const document = {
      event: { kind: 'pipeline_error', original: JSON.stringify({ falco: { long: 'x'.repeat(2_000_000) } }) },
      error: { type: 'mapper_parsing_exception', message: 'failed to parse field' },
      dead_letter: { index: 'security-events', id: 'abc', bytes: 2_000_020, cut: false },
    };
    expect(await stored(document, 'security-dead-letters')).toMatchObject({ status: 201 });
    expect(await found({ term: { 'error.type': 'mapper_parsing_exception' } }, 'security-dead-letters')).toBe(1);
  });

  // What flat_object has no limit for ends as a dead letter: said in the guide.
  test('a value of 100,000 characters in an event is held by Elasticsearch, and refused by OpenSearch', async () => {
    const { status } = await stored({ falco: { long: 'x'.repeat(100_000) } });
    expect(status).toBe(kind === 'elasticsearch' ? 201 : 400);
  });

  // Elasticsearch has data streams as a plugin, OpenSearch has them itself.
  if (kind === 'opensearch')
    test('what is to go by age is a data stream, which takes events and refuses the same one again', async () => {
      const indices = { ...storeWith().indices, events: 'aging-events' };
      const [template] = indexTemplates(kind, indices, {
        events: retentionPolicy(kind, 'aging-events', { days: 30, wantedBy: 'a' }),
      });
      const path = '/_index_template/keelson.aging-events';
      expect(await ask('PUT', path, template?.body)).toMatchObject({ status: 200 });
      const event = { '@timestamp': '2026-05-01T10:00:00.123456789Z', falco: { rule: 'first' } };
      const create = () => ask('PUT', '/aging-events/_create/one', event);
      expect(await create()).toMatchObject({ status: 201, body: { _index: expect.stringMatching(/^\.ds-aging-/) } });
      expect(await create()).toMatchObject({ status: 409 });

      // No longer to go by age: it stays one, or the store would refuse the template.
      const [plain] = indexTemplates(kind, indices);
      expect(await ask('PUT', path, plain?.body)).toMatchObject({ status: 400 });
      expect(await install({ indices })).toMatchObject({ remarks: [] });
      expect(JSON.stringify((await ask('GET', path)).body)).toContain('"data_stream":');
    });
});
