/**
 * The part of a store that a test needs to see from inside: takes `_bulk`, asks for credentials that the test may change at any time, and
 * keeps the documents. What a real store does with them is tested with a real one (flow.parts.test.ts).
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export type Document = Readonly<Record<string, unknown>>;

export interface BulkStore extends AsyncDisposable {
  readonly url: string;
  /** Every document that was taken, in the order of arrival. */
  readonly documents: readonly Document[];
  /** How many requests were sent away. */
  readonly refused: number;
  /** What the header Authorization must say from now on. */
  authorization: string | undefined;
}

export async function startBulkStore(authorization?: string): Promise<BulkStore> {
  const documents: Document[] = [];
  const state = { authorization, refused: 0 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    // Its clients make sure that they talk to the real thing.
    const answer = (status: number, body: object) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' })
        .end(JSON.stringify(body));
    if (state.authorization !== undefined && request.headers.authorization !== state.authorization) {
      state.refused += 1;
      return answer(401, { error: 'unauthorized' });
    }
    const body = Buffer.concat(chunks);
    const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
    const lines = text.split('\n').filter((line) => line !== '');
    const taken = lines.filter((_line, i) => i % 2 === 1).map((line) => JSON.parse(line) as Document);
    documents.push(...taken);
    return answer(200, { errors: false, items: taken.map(() => ({ create: { status: 201 } })) });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    documents,
    get refused() {
      return state.refused;
    },
    get authorization() {
      return state.authorization;
    },
    set authorization(value) {
      state.authorization = value;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
