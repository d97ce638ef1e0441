/** The real stores, and the real collector in front of them: what our other suites rely on. */
import { appendFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SearchStore, startCollector, startElasticsearch, startOpenSearch } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

describe.each([
  { name: 'Elasticsearch', start: startElasticsearch, product: 'Elasticsearch' },
  { name: 'OpenSearch', start: startOpenSearch, product: null },
])('$name', ({ start, product }) => {
  let store: SearchStore;
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'keelson-store-test-'));
    store = await start();
  });
  afterAll(async () => {
    await store?.stop();
    await rm(dir, { recursive: true });
  });

  const send = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${store.url}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const bodies = async (index: string) => {
    await send('POST', `/${index}/_refresh`);
    const found = await send<{ hits: { hits: { _source: { Body?: string } }[] } }>(
      'GET',
      `/${index}/_search?sort=Body.keyword`,
    );
    return found.hits.hits.map((hit) => hit._source.Body);
  };
  const collector = (file: string) =>
    startCollector({
      extensions: { file_storage: { directory: dir } },
      receivers: { file_log: { include: [file], start_at: 'beginning', poll_interval: '50ms' } },
      exporters: {
        elasticsearch: {
          endpoints: [store.url],
          logs_index: 'events',
          mapping: { allowed_modes: ['raw'] },
          retry: { enabled: true, max_retries: 100, initial_interval: '100ms', max_interval: '500ms' },
          sending_queue: { enabled: true, storage: 'file_storage' },
        },
      },
      service: {
        extensions: ['file_storage'],
        pipelines: { logs: { receivers: ['file_log'], exporters: ['elasticsearch'] } },
      },
    });

  test('applies an index template, and keeps its address and its documents over kill -9', async () => {
    await send('PUT', '/_index_template/typed', {
      index_patterns: ['typed-*'],
      template: { mappings: { dynamic: 'strict', properties: { '@timestamp': { type: 'date' } } } },
    });
    await send('PUT', '/typed-1/_doc/one?refresh', { '@timestamp': '2024-05-01T10:00:00Z' });
    await expect(send('PUT', '/typed-1/_doc/two', { surprise: 1 })).rejects.toThrow('strict_dynamic_mapping_exception');
    await store.part.kill();
    await store.part.start();
    expect(await send('GET', '/typed-1/_doc/one')).toMatchObject({ found: true });
  });

  test('says what it is as the published one does', async () => {
    expect((await fetch(store.url)).headers.get('x-elastic-product')).toBe(product);
  });

  if (product === 'Elasticsearch')
    test('takes what the collector sends, and nothing is lost while it is away', async () => {
      const file = join(dir, 'events.log');
      await appendFile(file, 'event 1\n');
      await using _collector = await collector(file);
      await vi.waitFor(async () => expect(await bodies('events')).toEqual(['event 1']), 30_000);
      await store.part.kill();
      await appendFile(file, 'event 2\n');
      await new Promise((resolve) => setTimeout(resolve, 2000));
      await store.part.start();
      await vi.waitFor(async () => expect(await bodies('events')).toEqual(['event 1', 'event 2']), 60_000);
    });
  // A reason for the relay (ADR 15): should a collector stop doing so, this tells.
  else
    test('is refused by the collector, which asks for the header of the other', async () => {
      const file = join(dir, 'events.log');
      await appendFile(file, 'event 1\n');
      await using refusing = await collector(file);
      await vi.waitFor(async () => expect(await refusing.part.log()).toContain('server is not Elasticsearch'), 30_000);
    });

  test('leaves nothing behind', async () => {
    const { pid = 0 } = store.part;
    process.kill(pid, 0);
    await store.stop();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await expect(stat(store.dir)).rejects.toThrow('ENOENT');
  });
});
