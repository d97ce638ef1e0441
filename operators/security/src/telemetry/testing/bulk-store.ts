/**
 * The part of a store that a test needs to see from inside: takes `_bulk`, keeps the documents, refuses one whose id it has, and asks for
 * credentials. The test may change those, or have the store refuse everything, at any time. What a real store does with documents is
 * tested with a real one (flow.parts.test.ts).
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export type Document = Readonly<Record<string, unknown>>;

export interface BulkStore extends AsyncDisposable {
  readonly url: string;
  /** Every document that was taken, in the order of arrival. */
  readonly documents: readonly Document[];
  /** How many documents came again: their id was there. */
  readonly again: number;
  /** How many requests were sent away. */
  readonly refused: number;
  /** What the header Authorization must say from now on. */
  authorization: string | undefined;
  /** Whether it is away: it answers nothing but 503. */
  away: boolean;
}

export async function startBulkStore(authorization?: string): Promise<BulkStore> {
  const documents: Document[] = [];
  const ids = new Set<string>();
  const state = { authorization, away: false, refused: 0, again: 0 };
  const server = createServer(async (request, response) => {
    const text = await bodyOf(request);
    // Its clients make sure that they talk to the real thing.
    const answer = (status: number, body: object) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' })
        .end(JSON.stringify(body));
    const refuse = (status: number) => {
      state.refused += 1;
      return answer(status, { error: 'refused', status });
    };
    if (state.away) return refuse(503);
    if (state.authorization !== undefined && request.headers.authorization !== state.authorization) return refuse(401);
    const lines = text.split('\n').filter((line) => line !== '');
    const items = lines.flatMap((line, i) => {
      if (i % 2 === 1) return [];
      const [[action, { _id, _index }] = ['', {}]] = Object.entries(JSON.parse(line) as BulkAction);
      if (_id !== undefined && ids.has(`${_index}/${_id}`)) {
        state.again += 1;
        return [{ [action]: { status: 409, error: { type: 'version_conflict_engine_exception' } } }];
      }
      ids.add(`${_index}/${_id}`);
      documents.push(JSON.parse(lines[i + 1] ?? '') as Document);
      return [{ [action]: { status: 201 } }];
    });
    return answer(200, { errors: items.some((item) => Object.values(item)[0]?.status === 409), items });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    documents,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  });
}

type BulkAction = Readonly<Record<string, { readonly _index?: string; readonly _id?: string }>>;

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  return (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
}
