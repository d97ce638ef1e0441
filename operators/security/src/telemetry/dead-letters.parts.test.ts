/**
 * What a real Elasticsearch refuses becomes a dead letter: through both real collectors and the real relay, each once and whole, whoever
 * is killed in between. And the others of the same request are stored.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Pipeline, startPipeline } from './testing/pipeline.ts';
import { census, guard } from './testing/sources.ts';

const LETTERS = 'security-dead-letters';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline({ sources: [guard, census], cluster: 'prod', node: 'node-1' });
  // As somebody made them by hand, before our templates: a number, and nothing but what is listed.
  const port = { type: 'long', ignore_malformed: false };
  await ask('PUT', '/security-events', { mappings: { properties: { guard: { properties: { port } } } } });
  await ask('PUT', '/security-inventory', { mappings: { dynamic: 'strict', dynamic_templates: [] } });
});
afterAll(() => pipeline?.stop());

async function ask<T>(method: string, path: string, body?: object | string): Promise<T> {
  const answer = await fetch(`${pipeline.store.url}${path}`, {
    method,
    headers: { 'content-type': typeof body === 'string' ? 'application/x-ndjson' : 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  expect(answer.ok, `${method} ${path}: ${answer.status}`).toBe(true);
  return (await answer.json()) as T;
}

interface Letter {
  readonly dead_letter: { readonly index: string; readonly id: string; readonly cut: boolean };
  readonly event: { readonly original: string };
  readonly error: { readonly type: string; readonly message: string };
}

const untilCounted = (index: string, query: string, count: number) =>
  vi.waitFor(async () => expect(await pipeline.count(index, query)).toBe(count), { timeout: 120_000, interval: 500 });

async function letters(query: string): Promise<readonly Letter[]> {
  const path = `/${LETTERS}/_search?size=10000&q=${encodeURIComponent(query)}`;
  const { hits } = await ask<{ hits: { hits: { _source: Letter }[] } }>('GET', path);
  return hits.hits.map(({ _source }) => _source);
}

/** One of three is refused. */
const isBad = (number: number) => number % 3 === 0;
const line = (rule: string, number: number) =>
  JSON.stringify({ time: '2026-05-01T10:00:00.123456789Z', rule, number, port: isBad(number) ? 'https' : 443 });
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

test('refused documents are kept whole with the reason, the others of the same request are stored, and events go on', async () => {
  await pipeline.write(guard, ...numbers(0, 30).map((number) => line('mixed', number)));
  await untilCounted('security-events', 'rule.name:mixed', 20);
  await untilCounted(LETTERS, 'security_tool:guard', 10);

  for (const letter of await letters('security_tool:guard')) {
    expect(letter).toMatchObject({
      '@timestamp': expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      security_tool: 'guard',
      'kubernetes.node.name': 'node-1',
      'orchestrator.cluster.name': 'prod',
      event: { kind: 'pipeline_error' },
      error: {
        type: 'mapper_parsing_exception',
        message: expect.stringMatching(
          /failed to parse field \[guard\.port\] of type \[long\].*For input string: "https"/s,
        ),
      },
      http: { response: { status_code: 400 } },
      dead_letter: { index: 'security-events', id: expect.stringMatching(/^[0-9a-f]{32}$/), cut: false },
    });
    const original = JSON.parse(letter.event.original) as Record<string, unknown>;
    expect(original).toMatchObject({
      '@timestamp': '2026-05-01T10:00:00.123456789Z',
      guard: { rule: 'mixed', port: 'https' },
    });
  }
  await pipeline.write(guard, line('after', 1));
  await untilCounted('security-events', 'rule.name:after', 1);
}, 300_000);

test('an index that refuses everything holds up no other, and its dead letters say why', async () => {
  const rows = numbers(0, 2000).map((number) =>
    JSON.stringify({ name: 'ports', unixTime: 1_714_550_400 + number, number }),
  );
  await pipeline.write(census, ...rows);
  await pipeline.write(guard, line('meanwhile', 1));
  await untilCounted('security-events', 'rule.name:meanwhile', 1);
  await untilCounted(LETTERS, 'security_tool:census', rows.length);
  const { aggregations } = await ask<{ aggregations: { index: { buckets: object[] } } }>(
    'POST',
    `/${LETTERS}/_search?size=0`,
    {
      aggs: { index: { terms: { field: 'dead_letter.index' }, aggs: { why: { terms: { field: 'error.type' } } } } },
    },
  );
  expect(aggregations.index.buckets).toMatchObject([
    { key: 'security-inventory', doc_count: 2000, why: { buckets: [{ key: 'strict_dynamic_mapping_exception' }] } },
    { key: 'security-events', doc_count: 10, why: { buckets: [{ key: 'mapper_parsing_exception' }] } },
  ]);
  const figures = await (await fetch(`${pipeline.relay.statusUrl}/metrics`)).text();
  const [, counted] =
    /_dead_letters_total\{index="security-inventory",error_type="strict_dynamic_mapping_exception"\} (\d+)/.exec(
      figures,
    ) ?? [];
  // One that came again counts again.
  expect(Number(counted)).toBeGreaterThanOrEqual(rows.length);
}, 300_000);

test('whoever is killed in between, each refused document is there once, and so is every other', async () => {
  const total = 3000;
  const rounds = 9;
  const parts = [() => pipeline.gateway.part, () => pipeline.relay.part, () => pipeline.node.part];
  for (let round = 0; round < rounds; round += 1) {
    const [from, to] = [(total / rounds) * round, (total / rounds) * (round + 1)].map(Math.round) as [number, number];
    await pipeline.write(guard, ...numbers(from, to).map((number) => line('killed', number)));
    // Five seconds make a batch of a node: some are killed before it is sent, some while it is refused.
    await new Promise((resolve) => setTimeout(resolve, 700 * round));
    const victim = parts[round % parts.length]?.();
    await victim?.kill();
    await victim?.start();
  }
  const bad = numbers(0, total).filter(isBad).length;
  await untilCounted('security-events', 'rule.name:killed', total - bad);
  await vi.waitFor(
    async () => {
      const found = (await letters('security_tool:guard')).filter(({ event }) => event.original.includes('"killed"'));
      expect(found).toHaveLength(bad);
      expect(new Set(found.map(({ dead_letter }) => dead_letter.id)).size).toBe(bad);
    },
    { timeout: 120_000, interval: 1000 },
  );
  console.log(`${total} events, ${rounds} kills -9: ${total - bad} stored, ${bad} dead letters, each once`);
}, 300_000);

test('a line of four megabytes is stored, and refused it is kept whole', async () => {
  const long = 'y'.repeat(4_000_000);
  const time = '2026-05-01T10:00:00Z';
  await pipeline.write(guard, JSON.stringify({ time, rule: 'long', long }));
  await pipeline.write(guard, JSON.stringify({ time, rule: 'long and bad', port: 'https', long }));
  await untilCounted('security-events', 'rule.name:long', 1);
  await vi.waitFor(
    async () => {
      const { hits } = await ask<{ hits: { hits: { _source: Letter }[] } }>('POST', `/${LETTERS}/_search`, {
        query: { range: { 'dead_letter.bytes': { gte: 4_000_000 } } },
      });
      expect(hits.hits.map(({ _source }) => JSON.parse(_source.event.original))).toMatchObject([{ guard: { long } }]);
    },
    { timeout: 120_000, interval: 1000 },
  );
});

test('once the index is mended, the recipe of the guide puts dead letters where they belong, and what is refused again stays', async () => {
  await ask('DELETE', '/security-inventory');
  const refused = await pipeline.count(LETTERS, 'security_tool:guard');
  expect(refused).toBeGreaterThan(500);
  const guide = await readFile(new URL('../../../../docs/guides/telemetry.md', import.meta.url), 'utf8');
  const [, recipe = ''] = /```sh replay\n(.*?)```/s.exec(guide) ?? [];
  const cwd = await mkdtemp(join(tmpdir(), 'keelson-replay-'));
  try {
    const env = { ...process.env, STORE: pipeline.store.url };
    // More than a page of each: what stays must not be in the way of what goes.
    const { stdout } = await promisify(execFile)('sh', ['-c', recipe], { cwd, env });
    console.log(stdout);
    expect(stdout).toContain('400 mapper_parsing_exception');
    expect(await pipeline.count('security-inventory', 'security_tool:census')).toBe(2000);
    expect(await pipeline.count(LETTERS, 'security_tool:census')).toBe(0);
    expect(await pipeline.count(LETTERS, 'security_tool:guard')).toBe(refused);
  } finally {
    await rm(cwd, { recursive: true });
  }
}, 300_000);

test('at the limit of shards events and dead letters wait, none is lost, and all are stored when there is room', async () => {
  const figure = async (name: string, index: string) => {
    const figures = await (await fetch(`${pipeline.relay.statusUrl}/metrics`)).text();
    return new RegExp(`${name}\\{index="${index}",error_type="([a-z_]+)"\\} \\d+`).exec(figures)?.[1];
  };
  const limit = (shards: number | null) =>
    ask('PUT', '/_cluster/settings', { persistent: { 'cluster.max_shards_per_node': shards } });
  await ask('DELETE', `/security-inventory,${LETTERS}`);
  await limit(1);
  await pipeline.write(census, JSON.stringify({ name: 'late', unixTime: 1_714_550_400, number: 1 }));
  await pipeline.write(guard, line('no letter', 0));
  const held = (index: string) =>
    vi.waitFor(
      async () => expect(await figure('keelson_relay_held_documents_total', index)).toBe('validation_exception'),
      { timeout: 90_000, interval: 500 },
    );
  await held('security-inventory');
  await held(LETTERS);
  expect(await figure('keelson_relay_lost_documents_total', '[^"]+')).toBeUndefined();
  await limit(null);
  await untilCounted('security-inventory', 'security_tool:census', 1);
  await untilCounted(LETTERS, 'security_tool:guard', 1);
}, 300_000);
