/** A store that takes everything at once and keeps nothing: what is measured is the pipeline. Tells when which document arrived. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export interface Sink extends AsyncDisposable {
  readonly url: string;
  /** Documents so far. */
  readonly count: number;
  /** Resolves with the time at which so many documents had arrived. */
  arrived(count: number): Promise<number>;
}

export async function startSink(): Promise<Sink> {
  let count = 0;
  const waiting: { count: number; resolve: (at: number) => void }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const sent = Buffer.concat(chunks);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    const documents = lines(body) / 2;
    // As a store answers who asks for these fields alone (filter_path). Its clients make sure that they talk to the real thing.
    const headers = { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' };
    const items = Array.from({ length: documents }, () => '{"create":{"status":201}}').join(',');
    response.writeHead(200, headers).end(`{"errors":false,"items":[${items}]}`);
    count += documents;
    const now = performance.now();
    for (const one of waiting.filter((wanted) => wanted.count <= count)) {
      waiting.splice(waiting.indexOf(one), 1);
      one.resolve(now);
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get count() {
      return count;
    },
    arrived: (wanted) =>
      new Promise((resolve) => {
        if (count >= wanted) resolve(performance.now());
        else waiting.push({ count: wanted, resolve });
      }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function lines(body: Buffer): number {
  let found = 0;
  for (let at = body.indexOf(10); at >= 0; at = body.indexOf(10, at + 1)) found += 1;
  return found;
}
