/** Lines in files become documents in an index: both real collectors, as they are configured, and a real Elasticsearch. */
import { appendFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createObjectSet } from '@keelson/runtime';
import { type Elasticsearch, type Standalone, startCollector, startElasticsearch } from '@keelson/testenv';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { CONFIG_FILE, GATEWAY } from '../names.ts';
import { collectorConfigMaps } from './config-maps.ts';
import { NODE_ARGS } from './node.ts';
import type { LogSource } from './source.ts';
import { elsewhere, freePort, mountSecret, tlsIn } from './testing/collectors.ts';
import { census, guard, outputOf, watcher } from './testing/sources.ts';
import { findTrust } from './trust.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: the collector's own syntax
const cluster = 'prod ${env:HOME} $1';

let dir: string;
let store: Elasticsearch;
let gateway: Standalone;
let node: Standalone;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-flow-'));
  store = await startElasticsearch();
  // Left to itself, the store takes the first text that looks like a time for a promise that all of its kind will.
  await fetch(`${store.url}/_index_template/security`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      index_patterns: ['security-*'],
      template: { mappings: { date_detection: false, properties: { '@timestamp': { type: 'date' } } } },
    }),
  });
  const sources = [guard, watcher, census].map(here);
  await Promise.all(sources.map(({ path }) => mkdir(dirname(path), { recursive: true })));
  const maps = collectorConfigMaps({ sources, output: outputOf({ url: store.url }), cluster });
  const [nodeConfig = '', gatewayConfig = ''] = maps.map(({ data }) => data?.[CONFIG_FILE] ?? '');
  const endpoint = `127.0.0.1:${await freePort()}`;
  const { parties } = await findTrust({ owned: createObjectSet([], 'n'), now: new Date() }, 'n');
  const [gatewayTls, nodeTls] = [join(dir, 'gateway-tls'), join(dir, 'node-tls')];
  await Promise.all([mountSecret(gatewayTls, parties.gateway.data), mountSecret(nodeTls, parties.node.data)]);
  const grpc = { endpoint, tls: tlsIn(gatewayTls, 'client_ca_file') };
  gateway = await startCollector(gatewayConfig, {
    overrides: { ...(await elsewhere(join(dir, 'gateway'))), receivers: { otlp: { protocols: { grpc } } } },
  });
  const tls = { ...tlsIn(nodeTls, 'ca_file'), server_name_override: GATEWAY };
  node = await startCollector(nodeConfig, {
    args: NODE_ARGS,
    environment: { K8S_NODE_NAME: '10' },
    overrides: { ...(await elsewhere(join(dir, 'node'))), exporters: { otlp: { endpoint, tls } } },
  });
});
afterAll(async () => {
  await Promise.all([node, gateway, store].map((part) => part?.stop()));
  await rm(dir, { recursive: true });
});

/** The file of a source, below the folder of this test. */
function here(source: LogSource): LogSource {
  const { rotated } = source;
  return { ...source, path: join(dir, source.path), ...(rotated === undefined ? {} : { rotated: join(dir, rotated) }) };
}

type Document = Readonly<Record<string, unknown>>;

async function documents(index: string, field: string, text: string): Promise<readonly Document[]> {
  await fetch(`${store.url}/${index}/_refresh`, { method: 'POST' });
  const query = encodeURIComponent(`${field}:"${text}"`);
  const answer = await fetch(`${store.url}/${index}/_search?size=100&sort=@timestamp&q=${query}`);
  const { hits } = (await answer.json()) as { hits?: { hits: { _source: Document }[] } };
  return hits?.hits.map(({ _source }) => _source) ?? [];
}

const untilFound = (index: string, field: string, text: string, count = 1) =>
  vi.waitFor(
    async () => {
      const found = await documents(index, field, text);
      expect(found).toHaveLength(count);
      return found;
    },
    { timeout: 30_000, interval: 250 },
  );

const write = (source: LogSource, ...lines: readonly string[]) =>
  appendFile(here(source).path, lines.map((line) => `${line}\n`).join(''));

test('an event is found in the index of its tool, with its own time, severity and integers', async () => {
  const time = '2024-05-01T10:00:00.123456789+02:00';
  await write(guard, JSON.stringify({ rule: 'shell', time, how: { bad: 'Bad' }, pid: 9_007_199_254_740 }));
  await write(census, JSON.stringify({ name: 'ports', unixTime: 1_714_550_400, columns: { port: '22' } }));

  const [event] = await untilFound('security-events', 'guard.rule', 'shell');
  expect(event).toEqual({
    '@timestamp': '2024-05-01T08:00:00.123456789Z',
    security_tool: 'guard',
    'kubernetes.node.name': '10',
    'orchestrator.cluster.name': cluster,
    'log.file.path': here(guard).path,
    'log.level': 'Bad',
    'event.severity': 17,
    guard: { rule: 'shell', time, how: { bad: 'Bad' }, pid: 9_007_199_254_740 },
  });
  const [finding] = await untilFound('security-inventory', 'census.name', 'ports');
  expect(finding).toMatchObject({
    '@timestamp': expect.stringMatching(/^2024-05-01T08:00:00(\.0+)?Z$/),
    security_tool: 'census',
  });
  expect(await documents('security-events', 'security_tool', 'census')).toEqual([]);
});

test('a line that is no JSON object is kept and marked, and one with an odd time is kept with that of its arrival', async () => {
  const before = new Date().toISOString();
  await write(guard, 'panic: {not json', '["not an object"]', JSON.stringify({ rule: 'odd time', time: 'yesterday' }));

  const marked = await untilFound('security-events', 'event.kind', 'pipeline_error', 2);
  expect(marked.map(({ message }) => message).sort()).toEqual(['["not an object"]', 'panic: {not json']);
  for (const document of marked)
    expect(document).toMatchObject({ security_tool: 'guard', 'kubernetes.node.name': '10' });
  const [odd] = await untilFound('security-events', 'guard.rule', 'odd time');
  expect(odd?.['event.kind']).toBeUndefined();
  expect(String(odd?.['@timestamp']) > before).toBe(true);
});

test('what is written and rotated away while the collector is dead is read afterwards, and nothing twice', async () => {
  await write(watcher, JSON.stringify({ what: 'first' }));
  await untilFound('security-events', 'watcher.what', 'first');
  await node.part.kill();
  await write(watcher, JSON.stringify({ what: 'second' }));
  await rename(here(watcher).path, join(dirname(here(watcher).path), 'events-2024.log'));
  await write(watcher, JSON.stringify({ what: 'third' }));
  await node.part.start();

  await untilFound('security-events', 'watcher.what', 'second');
  await untilFound('security-events', 'watcher.what', 'third');
  expect(await documents('security-events', 'watcher.what', 'first')).toHaveLength(1);
});

test('what comes while the store is away waits in the gateway, over its death', async () => {
  await store.part.kill();
  await write(guard, JSON.stringify({ rule: 'while away' }));
  // The node has handed it over when its own queue is empty: five seconds for the batch, and a little.
  await new Promise((resolve) => setTimeout(resolve, 7000));
  await gateway.part.kill();
  await gateway.part.start();
  await store.part.start();

  await untilFound('security-events', 'guard.rule', 'while away');
});
