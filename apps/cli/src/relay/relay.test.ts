import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from './journal.ts';
import { startRelay } from './relay.ts';
import { Store } from './store.ts';
import { type StingyStore, type StoredDocument, startStingyStore } from './testing/stingy-store.ts';

const clash = {
  type: 'mapper_parsing_exception',
  reason: 'failed to parse field [n]',
  caused_by: { reason: 'For input string: "x"' },
};
const isBad = ({ index, source }: StoredDocument) => index !== 'dead' && source.n === 'x';

let store: StingyStore;
let relay: Awaited<ReturnType<typeof startRelay>>;
let log: string;
let time: number;
beforeEach(async () => {
  store = await startStingyStore();
  log = '';
  time = Date.parse('2026-05-01T10:00:00Z');
  const journal = new Journal(
    (text) => {
      log += text;
    },
    () => new Date(time),
  );
  const options = { deadLetters: 'dead', listen: { host: '127.0.0.1', port: 0 }, statusPort: 0 };
  relay = await startRelay(options, await Store.open({ url: new URL(store.url) }), journal);
});
afterEach(async () => {
  await relay.stop();
  await store[Symbol.asyncDispose]();
});

/** As the exporter sends them. */
async function send(
  sources: readonly object[],
  headers: Record<string, string> = {},
  path = '/_bulk?filter_path=items.*.status',
) {
  const lines = sources.map(
    (source, at) => `{"create":{"_id":"id-${at}","_index":"events"}}\n${JSON.stringify(source)}\n`,
  );
  const answer = await fetch(`http://${relay.listen}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip', ...headers },
    body: gzipSync(lines.join('')),
  });
  const body = (await answer.json()) as { errors?: boolean; items?: { create: { status: number } }[]; error?: object };
  return { answer, error: body.error, status: answer.status, statuses: body.items?.map(({ create }) => create.status) };
}

const figures = async () => (await fetch(`http://localhost:${relay.status.split(':').at(-1)}/metrics`)).text();
const letters = () => [...store.documents.values()].filter(({ index }) => index === 'dead');
const lines = () =>
  log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('what the store takes', () => {
  it('given nothing is refused, when sent, then it is passed on as it is, with the credentials of the sender', async () => {
    const { status, statuses, answer } = await send([{ n: 1 }, { n: 2 }], { authorization: 'ApiKey abc' });
    expect([status, statuses]).toEqual([200, [201, 201]]);
    // The exporter talks to nobody who does not say so.
    expect(answer.headers.get('x-elastic-product')).toBe('Elasticsearch');
    expect([...store.documents.keys()]).toEqual(['events/id-0', 'events/id-1']);
    expect(store.requests.map(({ authorization }) => authorization)).toEqual(['ApiKey abc']);
    expect(log).toBe('');
  });

  it('given a document that is there already, when it comes again, then it is no dead letter', async () => {
    await send([{ n: 1 }]);
    expect((await send([{ n: 1 }])).statuses).toEqual([409]);
    expect(letters()).toEqual([]);
  });
});

describe('a document that the store refuses', () => {
  beforeEach(() => {
    store.refuse = (document) => (isBad(document) ? { status: 400, error: clash } : undefined);
  });

  it('given others in the same request, when sent, then it is kept whole with the reason, and they are stored', async () => {
    const bad = {
      security_tool: 'falco',
      'kubernetes.node.name': 'node-1',
      'orchestrator.cluster.name': 'prod',
      n: 'x',
    };
    expect((await send([{ n: 1 }, bad, { n: 3 }])).statuses).toEqual([201, 201, 201]);
    expect([...store.documents.keys()].filter((key) => key.startsWith('events/'))).toEqual([
      'events/id-0',
      'events/id-2',
    ]);
    const [letter, ...others] = letters();
    expect(others).toEqual([]);
    expect(letter?.source).toEqual({
      '@timestamp': expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      security_tool: 'falco',
      'kubernetes.node.name': 'node-1',
      'orchestrator.cluster.name': 'prod',
      event: { kind: 'pipeline_error', original: JSON.stringify(bad) },
      error: { type: 'mapper_parsing_exception', message: 'failed to parse field [n]: For input string: "x"' },
      http: { response: { status_code: 400 } },
      dead_letter: { index: 'events', id: 'id-1', bytes: JSON.stringify(bad).length, cut: false },
    });
  });

  it('given it is refused again and again, when sent, then there is one dead letter', async () => {
    for (let time = 0; time < 3; time += 1) expect((await send([{ n: 'x' }])).statuses).toEqual([201]);
    expect(letters()).toHaveLength(1);
  });

  it('given the dead letters cannot be stored now, when sent, then the sender keeps it and tries again', async () => {
    store.refuse = (document) =>
      isBad(document) || document.index === 'dead'
        ? { status: document.index === 'dead' ? 429 : 400, error: clash }
        : undefined;
    expect((await send([{ n: 1 }, { n: 'x' }])).status).toBe(429);
    store.refuse = (document) => (isBad(document) ? { status: 400, error: clash } : undefined);
    expect((await send([{ n: 1 }, { n: 'x' }])).statuses).toEqual([409, 201]);
    expect(letters()).toHaveLength(1);
  });

  it.each([
    [{ type: 'security_exception', reason: 'action [indices:data/write/bulk] is unauthorized' }, 403, 403],
    [{ type: 'some_new_exception', reason: 'nobody knows it' }, 400, 503],
  ])(
    'given dead letters get %j, when sent, then all wait, and the log and the sender hear why',
    async (error, status, heard) => {
      store.refuse = (document) =>
        document.index === 'dead' ? { status, error } : isBad(document) ? { status: 400, error: clash } : undefined;
      const answer = await send([{ n: 1 }, { n: 'x' }]);
      expect(answer.status).toBe(heard);
      expect(answer.error).toMatchObject({
        reason: expect.stringContaining(`dead does not take them as dead letters: ${status} ${error.type}`),
      });
      expect(lines()).toMatchObject([
        { level: 'warn', index: 'dead', documents: 1, status, type: error.type },
        { level: 'warn', answer: expect.stringContaining(error.type) },
      ]);
      expect(await figures()).toContain(
        `keelson_relay_held_documents_total{index="dead",error_type="${error.type}"} 1\n`,
      );
      expect(await figures()).not.toContain('keelson_relay_lost_documents_total{');
    },
  );

  it('given the dead letter is refused too, when sent, then it goes round once, and the sender is told the truth', async () => {
    store.refuse = ({ source }) => (JSON.stringify(source).includes('"n') ? { status: 400, error: clash } : undefined);
    expect((await send([{ n: 'x' }, { m: 1 }])).statuses).toEqual([400, 201]);
    expect(letters()).toEqual([]);
    expect(lines()).toMatchObject([{ level: 'error', message: expect.stringContaining('lost'), documents: 1 }]);
  });

  // As Elasticsearch 8 and OpenSearch 2 word it: each quotes what it refuses.
  it.each([
    [
      'document_parsing_exception',
      "[1:7] failed to parse field [process.command_line] of type [long] in document with id 'id-0'. Preview of field's value: 'hunter2'",
      'For input string: "hunter2"',
      { field: 'process.command_line' },
    ],
    [
      'strict_dynamic_mapping_exception',
      '[1:2] mapping set to strict, dynamic introduction of [hunter2 and more] within [guard] is not allowed',
      undefined,
      {},
    ],
    [
      'strict_dynamic_mapping_exception',
      'mapping set to strict, dynamic introduction of [port] within [guard] is not allowed',
      undefined,
      { field: 'guard.port' },
    ],
    ['some_new_exception', 'cannot work with hunter2', undefined, {}],
  ])(
    'given a store that quotes it (%s), when refused, kept, lost or held, then no line has a word of it',
    async (type, reason, cause, detail) => {
      const error = { type, reason, ...(cause === undefined ? {} : { caused_by: { reason: cause } }) };
      store.refuse = ({ index }) => (index === 'dead' ? undefined : { status: 400, error });
      await send([{ n: 'hunter2' }]);
      const [line] = lines();
      expect(line).toMatchObject({ index: 'events', type, ...detail });
      expect(line).not.toHaveProperty('reason');
      expect(line?.field).toBe((detail as { field?: string }).field);
      expect(letters()[0]?.source).toMatchObject({ error: { message: expect.stringContaining(reason) } });
      time += 31_000;
      store.refuse = () => ({ status: 400, error });
      const heard = await send([{ n: 'hunter2' }]);
      expect(JSON.stringify(heard.error ?? {})).not.toContain('hunter2');
      expect(lines().length).toBeGreaterThan(1);
      expect(log).not.toContain('hunter2');
    },
  );

  it('given a store that fails and quotes it, when sent, then no line has a word of it', async () => {
    store.answer = () => ({
      status: 500,
      body: JSON.stringify({ error: { type: 'json_parse_exception', reason: "Unrecognized token 'hunter2'" } }),
    });
    expect((await send([{ n: 1 }])).status).toBe(500);
    expect(lines()).toMatchObject([{ answer: '500 json_parse_exception: Unrecognized token …' }]);
  });

  it('given thousands of them, when sent, then there are few lines, none with a document or a credential, and every one counts', async () => {
    const many = Array.from({ length: 2000 }, (_, number) => ({ n: 'x', secret: `event-${number}` }));
    await send(many, { authorization: 'Basic hunter2' });
    await send([{ n: 'x', secret: 'another' }]);
    expect(lines()).toMatchObject([{ level: 'warn', index: 'events', type: 'mapper_parsing_exception', documents: 1 }]);
    time += 31_000;
    await send([{ n: 'x', secret: 'a third' }]);
    expect(lines()).toMatchObject([{}, { documents: 2001, field: 'n' }]);
    expect(log).not.toMatch(/hunter2|event-/);
    expect(await figures()).toContain(
      'keelson_relay_dead_letters_total{index="events",error_type="mapper_parsing_exception"} 2002\n',
    );
    expect(letters()).toHaveLength(2002);
  });
});

describe('a request that the store refuses as a whole', () => {
  it('given it is too large, when sent, then it is sent in parts', async () => {
    store.answer = (bytes) => (bytes > 300 ? { status: 413 } : undefined);
    const { statuses } = await send(Array.from({ length: 20 }, (_, n) => ({ n, text: 'y'.repeat(50) })));
    expect(statuses).toEqual(Array.from({ length: 20 }, () => 201));
    expect(store.documents.size).toBe(20);
  });

  it('given one document alone is too large, when sent, then its beginning is kept, and the others are stored', async () => {
    store.answer = (bytes) => (bytes > 60_000 ? { status: 413 } : undefined);
    const { statuses } = await send([{ n: 1 }, { text: 'z'.repeat(100_000) }, { n: 3 }]);
    expect(statuses).toEqual([201, 201, 201]);
    expect(letters().map(({ source }) => source)).toMatchObject([
      {
        event: { original: expect.stringMatching(/^\{"text":"z{1000,}$/) },
        error: { type: 'content_too_large' },
        http: { response: { status_code: 413 } },
        dead_letter: { id: 'id-1', cut: true },
      },
    ]);
  });

  it('given anything is too large, when sent, then nothing is given up', async () => {
    store.answer = (bytes) => (bytes > 1000 ? { status: 413 } : undefined);
    expect((await send([{ text: 'z'.repeat(100_000) }])).status).toBe(503);
    store.answer = () => undefined;
    expect((await send([{ text: 'z'.repeat(100_000) }])).statuses).toEqual([201]);
    expect(letters()).toEqual([]);
  });

  it('given it is refused whatever is in it (400), when sent, then nothing is given up', async () => {
    store.answer = () => ({
      status: 400,
      body: '{"error":{"type":"illegal_argument_exception","reason":"unrecognized parameter"}}',
    });
    expect((await send([{ n: 1 }, { n: 2 }])).status).toBe(503);
    store.answer = () => undefined;
    expect((await send([{ n: 1 }, { n: 2 }])).statuses).toEqual([201, 201]);
    expect(letters()).toEqual([]);
  });
});

describe('a document that is not to blame', () => {
  // As Elasticsearch 8 and OpenSearch 2 answer, each with 400.
  it.each([
    [
      'validation_exception',
      'Validation Failed: 1: this action would add [2] shards, but this cluster currently has [1000]/[1000] maximum normal shards open;',
    ],
    ['index_closed_exception', 'closed'],
    [
      'illegal_argument_exception',
      'no write index is defined for alias [events]. The write index may be explicitly disabled',
    ],
    ['cluster_block_exception', 'index [events] blocked by: [FORBIDDEN/8/index write (api)];'],
  ])(
    'given %s for every index, when sent, then the sender keeps it, and stores it when that is over',
    async (type, reason) => {
      store.refuse = () => ({ status: 400, error: { type, reason } });
      expect((await send([{ n: 1 }, { n: 2 }])).statuses).toEqual([503, 503]);
      expect(await figures()).toContain(`keelson_relay_held_documents_total{index="events",error_type="${type}"} 2\n`);
      expect(await figures()).not.toContain('keelson_relay_lost_documents_total{');
      expect(lines()).toMatchObject([
        { level: 'warn', index: 'events', documents: 2, type, reason: expect.stringContaining(reason.slice(0, 20)) },
      ]);
      store.refuse = () => undefined;
      expect((await send([{ n: 1 }, { n: 2 }])).statuses).toEqual([201, 201]);
      expect(letters()).toEqual([]);
    },
  );

  it('given a reason that nobody knows, when sent, then it is a dead letter and not in the way', async () => {
    store.refuse = ({ index }) =>
      index === 'dead' ? undefined : { status: 400, error: { type: 'some_new_exception' } };
    expect((await send([{ n: 1 }])).statuses).toEqual([201]);
    expect(letters()).toHaveLength(1);
  });

  it('given dead letters cannot have their index made, when a document is refused, then it waits', async () => {
    store.refuse = (document) =>
      document.index === 'dead'
        ? { status: 400, error: { type: 'validation_exception', reason: 'this action would add [2] shards' } }
        : isBad(document)
          ? { status: 400, error: clash }
          : undefined;
    expect((await send([{ n: 1 }, { n: 'x' }])).status).toBe(503);
    store.refuse = (document) => (isBad(document) ? { status: 400, error: clash } : undefined);
    expect((await send([{ n: 1 }, { n: 'x' }])).statuses).toEqual([409, 201]);
    expect(letters()).toHaveLength(1);
  });
});

describe('a store that takes nothing', () => {
  it.each([
    [401, 401],
    [403, 403],
    [404, 404],
    [429, 429],
    [503, 503],
    // What an exporter would drop a request for.
    [302, 503],
    [405, 503],
    [507, 503],
  ])('given it answers %i, when sent, then the sender hears %i and tries again', async (answered, heard) => {
    store.answer = () => ({ status: answered });
    expect((await send([{ n: 1 }])).status).toBe(heard);
  });

  it('given something else answers 200, when sent, then the sender tries again', async () => {
    store.answer = () => ({ status: 200, body: '<html>please log in</html>' });
    expect((await send([{ n: 1 }])).status).toBe(502);
  });

  it('given it hangs up, when sent, then the sender tries again, and trouble is told when it begins and ends', async () => {
    store.hangUp = true;
    expect((await send([{ n: 1 }])).status).toBe(502);
    expect((await send([{ n: 1 }])).status).toBe(502);
    store.hangUp = false;
    expect((await send([{ n: 1 }])).statuses).toEqual([409]);
    expect(lines().map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'the store takes no requests: they wait in the gateway'],
      ['info', 'the store takes requests again'],
    ]);
  });

  it('given a document is refused for what somebody may cure, when sent, then the sender hears it', async () => {
    store.refuse = () => ({ status: 403, error: { type: 'security_exception' } });
    expect((await send([{ n: 1 }])).statuses).toEqual([403]);
    expect(letters()).toEqual([]);
  });
});

describe('the relay itself', () => {
  it('given a store that is away, when the kubelet asks, then it is well', async () => {
    await store[Symbol.asyncDispose]();
    expect((await send([{ n: 1 }])).status).toBe(502);
    expect((await fetch(`http://localhost:${relay.status.split(':').at(-1)}/healthz`)).status).toBe(200);
  });

  it('given anything but _bulk, when asked for, then it is not passed on', async () => {
    expect((await send([], {}, '/_search')).status).toBe(404);
    expect((await send([], {}, '/a/b/_bulk')).status).toBe(404);
    expect(store.requests).toEqual([]);
  });

  it('given a body that is not what it says, when sent, then the sender keeps it, and the log says what is wrong, once and without a word of it', async () => {
    store.answer = () => ({ status: 413 });
    const post = async (body: string, headers: Record<string, string> = {}) =>
      (await fetch(`http://${relay.listen}/_bulk`, { method: 'POST', headers, body })).status;
    expect(await post('no gzip', { 'content-encoding': 'gzip' })).toBe(500);
    expect(await post('no gzip', { 'content-encoding': 'gzip' })).toBe(500);
    expect(await post('hunter2\n{}\n')).toBe(500);
    expect(lines()).toMatchObject([
      {
        level: 'error',
        message: expect.stringContaining('could not work on a request'),
        error: expect.stringContaining('incorrect header check'),
      },
      { level: 'error', error: expect.stringMatching(/^SyntaxError: Unexpected token/), at: expect.any(String) },
    ]);
    expect(log).not.toContain('hunter2');
    expect(await figures()).toContain('keelson_relay_requests_total{code="500"} 3\n');
  });

  it('given a body that is too large even for the relay, when sent, then the sender hears so', async () => {
    const chunk = Buffer.alloc(8 * 1024 * 1024, 'x');
    const endless = async function* () {
      for (let count = 0; count < 17; count += 1) yield chunk;
    };
    const { status } = await fetch(`http://${relay.listen}/_bulk`, {
      method: 'POST',
      body: endless(),
      duplex: 'half',
    } as RequestInit);
    expect(status).toBe(413);
    expect(await figures()).toContain('keelson_relay_requests_total{code="413"} 1\n');
    expect(store.requests).toEqual([]);
  });
});
