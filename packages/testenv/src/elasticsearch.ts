/**
 * A real, empty Elasticsearch 7.17 on this machine, ready in about five seconds, for tests of what is stored and found.
 *
 * It is the server as published, without plugins: index templates, bulk requests and searches are the real thing; there is
 * no authentication, no TLS and no lifecycle policies, which are plugins. Java 17 or newer must be on the PATH.
 */
import { join } from 'node:path';
import { ensurePart } from '@keelson/testbed';
import { request } from 'undici';
import { findFreePort } from './ports.ts';
import { type Standalone, type StandaloneOptions, startStandalone } from './standalone.ts';

/** A running Elasticsearch. */
export interface Elasticsearch extends Standalone {
  /** Where it serves, without a slash at the end; it stays the same over restarts. */
  readonly url: string;
}

/** How Elasticsearch is started. */
export interface ElasticsearchOptions extends StandaloneOptions {
  /** How long it may take to become ready; defaults to 60 s. */
  readonly readyWithinMs?: number;
}

/** Starts Elasticsearch and resolves when it takes documents. */
export async function startElasticsearch(options: ElasticsearchOptions = {}): Promise<Elasticsearch> {
  const { path } = await ensurePart('elasticsearch7');
  let url = '';
  const started = await startStandalone(async (dir) => {
    const port = await findFreePort();
    url = `http://127.0.0.1:${port}`;
    return {
      name: 'elasticsearch',
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
      readyWithinMs: options.readyWithinMs ?? 60_000,
    };
  }, options);
  return { ...started, url };
}
