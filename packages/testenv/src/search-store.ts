/**
 * A real, empty search store on this machine, ready in a few seconds, for tests of what is stored and found: Elasticsearch 7.17 or
 * OpenSearch 2.19.
 *
 * Each is the server as published, without plugins: index templates, bulk requests, searches and the headers of answers are the real thing;
 * there is no authentication, no TLS and no lifecycle management, which are plugins. Java 17 or newer must be on the PATH.
 */
import { join } from 'node:path';
import { ensurePart } from '@keelson/testbed';
import { request } from 'undici';
import { findFreePort } from './ports.ts';
import { type Standalone, type StandaloneOptions, startStandalone } from './standalone.ts';

/** A running store. */
export interface SearchStore extends Standalone {
  /** Where it serves, without a slash at the end; it stays the same over restarts. */
  readonly url: string;
}

/** How a store is started. */
export interface SearchStoreOptions extends StandaloneOptions {
  /** How long it may take to become ready; defaults to two minutes. */
  readonly readyWithinMs?: number;
}

/** Starts Elasticsearch and resolves when it takes documents. */
export function startElasticsearch(options: SearchStoreOptions = {}): Promise<SearchStore> {
  return startSearchStore('elasticsearch7', options);
}

/** Starts OpenSearch and resolves when it takes documents. */
export function startOpenSearch(options: SearchStoreOptions = {}): Promise<SearchStore> {
  return startSearchStore('opensearch', options);
}

async function startSearchStore(
  name: 'elasticsearch7' | 'opensearch',
  options: SearchStoreOptions,
): Promise<SearchStore> {
  const { path } = await ensurePart(name);
  let url = '';
  const started = await startStandalone(async (dir) => {
    const port = await findFreePort();
    url = `http://127.0.0.1:${port}`;
    return {
      name,
      command: [
        'java',
        '-Xms256m',
        '-Xmx512m',
        // It lives for seconds: compiling well costs more than it saves. This halves the time to start.
        '-XX:TieredStopAtLevel=1',
        '-XX:+UseSerialGC',
        '-XX:-UsePerfData',
        `-Djava.io.tmpdir=${join(dir, 'tmp')}`,
        '-cp',
        `${join(path, 'classes')}:${join(path, 'lib', '*')}`,
        'SingleNode',
        dir,
        String(port),
      ],
      isReady: () =>
        request(`${url}/_cluster/health?wait_for_status=yellow&timeout=1s`, { headersTimeout: 2000 }).then(
          async (response) => {
            await response.body.dump();
            return response.statusCode === 200;
          },
          () => false,
        ),
      readyWithinMs: options.readyWithinMs ?? 120_000,
    };
  }, options);
  return { ...started, url };
}
