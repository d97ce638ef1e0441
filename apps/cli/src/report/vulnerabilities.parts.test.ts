/** `keelson report vulnerabilities` with nothing but real programs: 5,000 reports, and real stores that are busy now and then. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ensurePart } from '@keelson/testbed';
import { type SearchStore, startElasticsearch, startOpenSearch, startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keelson } from '../testing/keelson.ts';
import { vulnerability, vulnerabilityReport } from './testing/reports.ts';

const each = 1;

let env: TestEnv;
beforeAll(async () => {
  const { path } = await ensurePart('crds');
  env = await startTestEnv({ crds: [join(path, 'trivy-operator/aquasecurity.github.io_vulnerabilityreports.yaml')] });
});
afterAll(() => env?.stop());

const folderOf = (namespace: string) =>
  `/apis/aquasecurity.github.io/v1alpha1/namespaces/${namespace}/vulnerabilityreports`;

describe.each([
  { name: 'Elasticsearch', start: startElasticsearch, reports: 5000, namespace: 'default', scope: [] },
  // Of one namespace only, which is not asked about those of the other.
  { name: 'OpenSearch', start: startOpenSearch, reports: 600, namespace: 'second', scope: ['-n', 'second'] },
])('keelson report vulnerabilities into $name', ({ name, start, reports, namespace, scope }) => {
  const folder = folderOf(namespace);
  const last = reports - 1;
  let store: SearchStore;
  let busy: { readonly url: string; readonly refused: number; close(): void };
  beforeAll(async () => {
    store = await start();
    busy = await startBusyProxy(store.url);
    if (namespace !== 'default')
      await env.adminRequest('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    const numbers = Array.from({ length: reports }, (_, index) => index).values();
    // One iterator, several workers: each takes the next number.
    const worker = async (): Promise<void> => {
      for (const number of numbers) {
        const found = Array.from({ length: each }, (_, index) => vulnerability(`CVE-${number}-${index}`));
        await env.adminRequest('POST', folder, vulnerabilityReport(`web-${number}`, found, namespace));
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  }, 600_000);
  afterAll(async () => {
    busy?.close();
    await store?.stop();
  });

  async function report() {
    const args = ['report', 'vulnerabilities', '--url', busy.url, '--cluster-name', 'prod', ...scope];
    const { code, stdout, stderr } = await keelson([...args, '--kubeconfig', env.kubeconfig]);
    return { code, stderr, summary: JSON.parse(stdout) as Record<string, unknown> };
  }

  async function ask<T>(path: string, body?: object): Promise<T> {
    const response = await fetch(`${store.url}/security-vuln/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as T;
  }
  const count = async (query: object): Promise<number> => {
    await ask('_refresh');
    return (await ask<{ count: number }>('_count', { query })).count;
  };
  const all = { match_all: {} };
  const status = (value: string) => ({ match: { 'vulnerability.status': value } });

  it('given thousands of reports and a store that is busy now and then, when run, then every vulnerability is stored', async () => {
    const { code, summary } = await report();
    expect({ code, summary }).toMatchObject({
      code: 0,
      summary: { complete: true, reports, documents: reports * each, created: reports * each, missing: 0, refused: [] },
    });
    expect(busy.refused).toBeGreaterThan(0);
    expect(summary.retries).toBe(busy.refused);
    expect(await count(all)).toBe(reports * each);
    console.log(`${summary.documents} documents of ${summary.reports} reports in ${summary.seconds} s`);
  });

  it('given the same reports, when run again, then nothing is doubled and nothing is resolved', async () => {
    const { code, summary } = await report();
    expect({ code, summary }).toMatchObject({
      code: 0,
      summary: { created: 0, updated: reports * each, resolved: 0, missing: 0 },
    });
    expect(await count(all)).toBe(reports * each);
    expect(await count(status('open'))).toBe(reports * each);
  });

  it('given reports that are gone, when run, then exactly theirs are resolved; when one is back, it is open and keeps its birthday', async () => {
    const born = await sourceOf('CVE-7-0');
    for (const number of [7, last]) await env.adminRequest('DELETE', `${folder}/replicaset-web-${number}-web`);
    expect((await report()).summary).toMatchObject({ resolved: 2 * each });
    expect(await count(status('resolved'))).toBe(2 * each);
    expect((await sourceOf('CVE-7-0')).event.end).toEqual(expect.any(String));

    await env.adminRequest('POST', folder, vulnerabilityReport('web-7', [vulnerability('CVE-7-0')], namespace));
    expect((await report()).summary).toMatchObject({ created: 0, resolved: 0 });
    const back = await sourceOf('CVE-7-0');
    expect(back).toMatchObject({
      vulnerability: { status: 'open' },
      event: { end: null, created: born.event.created },
    });
    expect(await count(all)).toBe(reports * each);
  }, 300_000);

  it('given a document that the mapping refuses, when run, then the others are stored and it is told with the reason of the store', async () => {
    const mapping = { mappings: { properties: { vulnerability: { properties: { title: { type: 'date' } } } } } };
    await fetch(`${store.url}/strict`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(mapping),
    });
    const few = `few-${name.toLowerCase()}`;
    await env.adminRequest('POST', '/api/v1/namespaces', { metadata: { name: few } });
    const found = [vulnerability('CVE-A', { title: '2024-01-01' }), vulnerability('CVE-B', { title: 'no date' })];
    await env.adminRequest('POST', folderOf(few), vulnerabilityReport('web', found, few));
    const args = ['report', 'vulnerabilities', '--url', store.url, '--index', 'strict', '-n', few];
    const { code, stdout } = await keelson([...args, '--kubeconfig', env.kubeconfig]);
    expect({ code, summary: JSON.parse(stdout) }).toMatchObject({
      code: 8,
      summary: {
        complete: true,
        created: 1,
        missing: 1,
        refused: [{ status: 400, reason: expect.stringContaining('failed to parse field [vulnerability.title]') }],
      },
    });
  });

  interface Source {
    readonly event: { readonly created: string; readonly end?: string | null };
    readonly vulnerability: { readonly status: string };
  }

  async function sourceOf(id: string): Promise<Source> {
    await ask('_refresh');
    const query = { term: { 'vulnerability.id.keyword': id } };
    const { hits } = await ask<{ hits: { hits: { _source: Source }[] } }>('_search', { query });
    const [hit] = hits.hits;
    if (hit === undefined) throw new Error(`no document of ${id}`);
    return hit._source;
  }
});

/** Passes requests on to the store, but answers every third one with 429. */
async function startBusyProxy(target: string): Promise<{ url: string; readonly refused: number; close(): void }> {
  let seen = 0;
  let refused = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    seen += 1;
    if (seen % 3 === 0) {
      refused += 1;
      response.writeHead(429).end();
      return;
    }
    const { method = 'GET', url = '/', headers } = request;
    const type = headers['content-type'];
    const passed = {
      method,
      ...(type === undefined ? {} : { headers: { 'content-type': type }, body: Buffer.concat(chunks) }),
    };
    const answer = await fetch(`${target}${url}`, passed).catch(() => undefined);
    if (answer === undefined) return void response.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get refused() {
      return refused;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
