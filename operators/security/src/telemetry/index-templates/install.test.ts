/** What is asked of a store, and what is made of its answers: a small one that answers as told, because ours has no logins and no lifecycles. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import type { EffectContext } from '@keelson/runtime';
import { type Duration, type KubeObject, toMilliseconds } from '@keelson/schema';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StoreSettings } from '../../resource.ts';
import type { StoreKind } from '../../store.ts';
import { agentOf } from '../../testing/agent.ts';
import { elasticsearchExporter } from '../exporter.ts';
import { outputOf, storeWith } from '../testing/sources.ts';
import { installTemplates, templateEffects } from './install.ts';

type Answer = (request: string) => { readonly status: number; readonly body?: unknown } | undefined;

let requests: { readonly what: string; readonly authorization: string | undefined; readonly body: string }[];
let answer: Answer;
/** In the place of JSON, for GET. */
let page: string | undefined;
let url: string;
let memory: Map<string, unknown>;
let close: () => Promise<void>;

beforeEach(async () => {
  requests = [];
  answer = () => undefined;
  page = undefined;
  memory = new Map();
  const server = createServer(async (request: IncomingMessage, response) => {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    const what = `${request.method} ${request.url}`;
    requests.push({ what, authorization: request.headers.authorization, body });
    const missing = what.startsWith('GET') && !what.includes('_ilm');
    const { status, body: told = {} } = answer(what) ?? { status: missing ? 404 : 200 };
    const content = request.method === 'GET' ? (page ?? JSON.stringify(told)) : JSON.stringify(told);
    response.writeHead(status, { 'content-type': 'application/json' }).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => new Promise((resolve) => void server.close(() => resolve()));
});
afterEach(() => close());

/** Where it is asked what an index is. */
const marksOf = (index: string) => `/${index}/_mapping?filter_path=*.mappings._meta,*.mappings._data_stream_timestamp`;
/** What was put there last. */
const sent = (path: string, whatever = false): object | null =>
  JSON.parse(
    requests.findLast(({ what }) => (whatever ? what.startsWith(`PUT ${path}`) : what === `PUT ${path}`))?.body ??
      'null',
  );
const ours = { _meta: { managed_by: 'keelson' } };
const stream = { '.ds-security-events-2026.05.01-000001': { mappings: { ...ours, _data_stream_timestamp: {} } } };

const agent = 'security-system/main (1)';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const secret = { data: { username: base64('agent\n'), password: base64('pass: $$\n'), key: base64('aWQ6a2V5') } };

function install(
  settings: Partial<StoreSettings> = {},
  found: object | null = secret,
  kind: StoreKind = 'elasticsearch',
  who = agent,
) {
  const context = {
    read: { find: async () => (found ?? undefined) as KubeObject | undefined },
    signal: new AbortController().signal,
    memory,
  } as unknown as EffectContext;
  return installTemplates(
    { store: storeWith({ url, ...settings }, kind), agent: who, namespace: 'security-system' },
    context,
  );
}

describe('the index templates are put in place', () => {
  test('one an index, and nothing is asked about lifecycles where all is kept', async () => {
    expect(await install()).toEqual({
      templates: [
        'keelson.security-events',
        'keelson.security-inventory',
        'keelson.security-vuln',
        'keelson.security-dead-letters',
      ],
      remarks: [],
    });
    const names = ['security-events', 'security-inventory', 'security-vuln', 'security-dead-letters'];
    expect(requests.map(({ what }) => what)).toEqual([
      ...names.map((name) => `GET ${marksOf(name)}`),
      ...names.map((name) => `PUT /_index_template/keelson.${name}`),
    ]);
  });

  test('below the path of the URL', async () => {
    await install({ url: `${url}/search/` });
    expect(requests.map(({ what }) => what)).toContain('PUT /search/_index_template/keelson.security-events');
  });

  test.each([
    ['nobody', {}, undefined],
    ['user and password', { auth: { secretRef: { name: 'login' } } }, `Basic ${base64('agent:pass: $$')}`],
    ['API key', { auth: { apiKeySecretRef: { name: 'login', key: 'key' } } }, 'ApiKey aWQ6a2V5'],
  ])('as %s', async (_who, store, expected) => {
    await install(store);
    expect(new Set(requests.map(({ authorization }) => authorization))).toEqual(new Set([expected]));
  });

  test('with a policy for what is to go by age', async () => {
    await install({ retentionDays: { events: 30 } });
    expect(requests.map(({ what }) => what).filter((what) => what.includes('_ilm'))).toEqual([
      'GET /_ilm/status',
      'GET /_ilm/policy/keelson.security-events',
      'PUT /_ilm/policy/keelson.security-events',
    ]);
    expect(sent('/_ilm/policy/keelson.security-events')).toMatchObject({
      policy: { phases: { delete: { min_age: '30d' } } },
    });
    expect(sent('/_index_template/keelson.security-events')).toMatchObject({
      data_stream: {},
      template: { settings: { index: { lifecycle: { name: 'keelson.security-events' } } } },
    });
  });

  describe('OpenSearch', () => {
    const path = '/_plugins/_ism/policies/keelson.security-events';
    const written = () => requests.filter(({ what }) => what.startsWith('PUT /_plugins')).map(({ what }) => what);
    const retain = (days: number) => install({ retentionDays: { events: days } }, secret, 'opensearch');

    test('has its policy under another name, once', async () => {
      answer = (what) => (what === 'GET /_plugins/_ism/policies' ? { status: 200 } : undefined);
      await retain(30);
      const wanted = JSON.parse(requests.find(({ what }) => what === `PUT ${path}`)?.body ?? '{}') as {
        policy: { states: object[] };
      };
      expect(wanted).toMatchObject({ policy: { ism_template: [{ index_patterns: ['security-events'] }] } });

      // As it is given back: with fields of its own.
      const [first, ...others] = wanted.policy.states;
      const policy = {
        ...wanted.policy,
        states: [{ ...first, more: 1 }, ...others],
        policy_id: 'x',
        schema_version: 21,
      };
      const body = { _id: 'x', _version: 3, _seq_no: 7, _primary_term: 2, policy };
      answer = (what) => (what.startsWith('GET /_plugins') ? { status: 200, body } : undefined);
      requests = [];
      await retain(30);
      expect(written()).toEqual([]);
      await retain(31);
      expect(written()).toEqual([`PUT ${path}?if_seq_no=7&if_primary_term=2`]);
    });

    test('without the plugin is told that nothing goes', async () => {
      answer = (what) => (what.includes('_ism') ? { status: 400, body: { error: 'no handler found' } } : undefined);
      expect(await retain(30)).toMatchObject({
        remarks: [expect.stringContaining('the store has no index state management')],
      });
      expect(written()).toEqual([]);
    });
  });

  test('an index that was there before is told of, and left alone', async () => {
    answer = (what) =>
      what === `GET ${marksOf('security-events')}`
        ? { status: 200, body: {} }
        : what === `GET ${marksOf('security-vuln')}`
          ? { status: 200, body: { 'security-vuln': { mappings: ours } } }
          : undefined;
    expect(await install()).toMatchObject({
      remarks: ['security-events is older than its template and keeps its own mapping: reindex it, or delete it'],
    });
  });

  test('retention of an index that is there is told to do nothing, and of a data stream nothing is', async () => {
    const retain = (body: object) => {
      answer = (what) => (what === `GET ${marksOf('security-events')}` ? { status: 200, body } : undefined);
      return install({ retentionDays: { events: 30 } });
    };
    expect(await retain({ 'security-events': { mappings: ours } })).toMatchObject({
      remarks: [
        'security-events is no data stream, and nothing of it goes by age: move it to another name, or delete it',
      ],
    });
    expect(await retain(stream)).toMatchObject({ remarks: [] });
  });

  test.each([
    ['elasticsearch', '/_ilm/policy/keelson.security-events', 'POST /security-events/_ilm/remove, then DELETE'],
    ['opensearch', '/_plugins/_ism/policies/keelson.security-events', 'DELETE /_plugins/_ism/policies/keelson.sec'],
  ] as const)(
    'retention taken away again leaves a data stream of %s, and what still goes is told',
    async (...given) => {
      const [kind, policy, remedy] = given;
      answer = (what) =>
        what === `GET ${marksOf('security-events')}`
          ? { status: 200, body: stream }
          : what === `GET ${policy}`
            ? { status: 200 }
            : undefined;
      expect(await install({}, secret, kind)).toMatchObject({
        remarks: [
          expect.stringContaining(`still goes by the policy keelson.security-events of before: to keep it, ${remedy}`),
        ],
      });
      expect(sent('/_index_template/keelson.security-events')).toMatchObject({ data_stream: {} });
      expect(JSON.stringify(sent('/_index_template/keelson.security-events'))).not.toContain('lifecycle');
      expect(sent('/_index_template/keelson.security-inventory')).not.toHaveProperty('data_stream');
    },
  );

  describe.each([
    ['elasticsearch', '/_ilm/policy/keelson.security-events', '/_ilm/status'],
    ['opensearch', '/_plugins/_ism/policies/keelson.security-events', '/_plugins/_ism/policies'],
  ] as const)('two agents that want other days for one index of %s', (kind, path, question) => {
    const retain = (days: number | undefined, who = agent) =>
      install(days === undefined ? {} : { retentionDays: { events: days } }, secret, kind, who);
    /** A store that keeps the policy. */
    const keeping = () => {
      answer = (what) => {
        if (what === `GET ${question}`) return { status: 200 };
        if (what === `GET ${marksOf('security-events')}`) return { status: 200, body: stream };
        const body = sent(path, true);
        if (what !== `GET ${path}` || body === null) return undefined;
        const versions = { _seq_no: 1, _primary_term: 1 };
        return { status: 200, body: kind === 'opensearch' ? { ...versions, ...body } : { [basename(path)]: body } };
      };
    };
    const writes = () => requests.filter(({ what }) => what.startsWith(`PUT ${path}`)).length;

    test('the larger number holds, the other agent is told, and they do not write in turn', async () => {
      keeping();
      expect(await retain(90, 'b/other (2)')).toMatchObject({ remarks: [] });
      expect(await retain(30)).toMatchObject({
        remarks: [
          expect.stringMatching(
            /^security-events goes after 90 days and not after 30, because agent b\/other \(2\) keeps/,
          ),
        ],
      });
      expect(writes()).toBe(1);
      expect(await retain(180)).toMatchObject({ remarks: [] });
      expect(writes()).toBe(2);
      await retain(90, 'b/other (2)');
      expect(writes()).toBe(2);
      // Its own wish anybody may change.
      expect(await retain(7)).toMatchObject({ remarks: [] });
      expect(JSON.stringify(sent(path, true))).toContain('"7d"');
    });

    test('one that wants none leaves what the other wants, and says so', async () => {
      keeping();
      await retain(90, 'b/other (2)');
      const template = sent('/_index_template/keelson.security-events');
      expect(await retain(undefined)).toMatchObject({
        remarks: ['security-events goes after 90 days, because agent b/other (2) wants that'],
      });
      expect(sent('/_index_template/keelson.security-events')).toEqual(template);
    });
  });

  test('an answer that is no JSON tells nothing about an index', async () => {
    page = '<html>';
    answer = (what) => (what.startsWith('GET /security') ? { status: 200 } : undefined);
    expect(await install()).toMatchObject({ remarks: [] });
  });
});

describe('a store that does not let us', () => {
  test.each([
    [401, {}, /^LoginRefused: the store at http:\/\/127.0.0.1:\d+ refuses the credentials of spec.output$/],
    [
      403,
      {},
      /^Forbidden: .*keelson.security-events: give it the cluster privilege manage_index_templates, or .* false$/,
    ],
    [400, { error: { reason: 'no', caused_by: { reason: 'really' } } }, /^Refused: .*: 400 no: really$/],
    [
      404,
      'a page of something else',
      /^Refused: the store refuses keelson.security-events, keelson.security-inventory, .*-vuln, .*-letters: 404$/,
    ],
    [503, {}, /^Unreachable: the store at http:\/\/127.0.0.1:\d+ answers 503$/],
  ])('%i', async (status, body, message) => {
    answer = () => ({ status, body });
    await expect(install()).rejects.toThrow(message);
  });

  test('refuses one template: the others are put in place all the same', async () => {
    const refusal = { status: 400, body: { error: { reason: 'another of the same priority' } } };
    answer = (what) => (what === 'PUT /_index_template/keelson.security-events' ? refusal : undefined);
    await expect(install()).rejects.toThrow(
      /^Refused: the store refuses keelson.security-events: 400 another of the same priority$/,
    );
    for (const index of ['security-inventory', 'security-vuln', 'security-dead-letters'])
      expect(sent(`/_index_template/keelson.${index}`)).toMatchObject({ index_patterns: [index] });
  });

  test('is not there, or its name is not known: said in words that stay the same', async () => {
    await close();
    await expect(install()).rejects.toThrow(/^Unreachable: the operator does not reach .*: it refuses connections$/);
    await expect(install({ url: 'https://no-such-store.invalid:9200' })).rejects.toThrow(
      'Unreachable: the operator does not reach the store at https://no-such-store.invalid:9200: its name is not known',
    );
    close = async () => {};
  });

  test('is away in changing words: from the second on they are one, until it is reached', async () => {
    const failing = (status: number) => {
      answer = () => ({ status });
      return expect(install()).rejects;
    };
    await failing(503).toThrow(/answers 503$/);
    await failing(503).toThrow(/answers 503$/);
    for (const status of [500, 503, 429]) await failing(status).toThrow(/^Unreachable: .*, or now and then only$/);
    answer = () => undefined;
    await install();
    await failing(500).toThrow(/answers 500$/);
  });

  test('is not asked without its credentials', async () => {
    await expect(install({ auth: { secretRef: { name: 'login' } } }, null)).rejects.toThrow(
      "SecretMissing: there is no key 'username' in a Secret 'login' in namespace security-system",
    );
    expect(requests).toEqual([]);
  });
});

describe('the effect', () => {
  const agent = (settings: Partial<StoreSettings>) => agentOf(['falco'], { output: outputOf(settings) }) as never;
  const effectsOf = (settings: Partial<StoreSettings>) => templateEffects(agent(settings));

  test('is asked for again now and then, and holds names of Secrets only', () => {
    expect(effectsOf({ auth: { secretRef: { name: 'login' } } })).toMatchObject([
      {
        key: 'index-templates',
        every: '10m',
        input: { store: { kind: 'elasticsearch', auth: { secretRef: { name: 'login' } } } },
      },
    ]);
  });

  test('is tried more often than gateways try: templates are not minutes behind the events of a store that comes late', () => {
    const { retry } = elasticsearchExporter('events', storeWith(), true) as { retry: { max_interval: Duration } };
    const [{ retryWithin = '5m' } = {}] = effectsOf({});
    expect(toMilliseconds(retryWithin)).toBeLessThan(toMilliseconds(retry.max_interval));
  });

  test('is another one when a Secret was changed, so that what was refused is tried at once', () => {
    const self = agent({ auth: { secretRef: { name: 'login' } } });
    const [before, after] = ['1', '2'].map(
      (version) => templateEffects(self, { login: { keys: [], version } })[0]?.input,
    );
    expect(before).not.toEqual(after);
  });

  test('is not asked for where the user sees to the templates', () => {
    expect(effectsOf({ manageTemplates: false })).toEqual([]);
  });
});
