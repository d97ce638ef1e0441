/**
 * A store that takes `_bulk` and refuses what a test tells it to: documents, requests that are too large, everything. What a real one
 * does: operators/security/src/telemetry/dead-letters.parts.test.ts.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export interface StoredDocument {
  readonly index: string;
  readonly id: string;
  readonly source: Readonly<Record<string, unknown>>;
}

export interface StingyStore extends AsyncDisposable {
  readonly url: string;
  /** By index and id. */
  readonly documents: ReadonlyMap<string, StoredDocument>;
  readonly requests: readonly { readonly path: string; readonly authorization: string | undefined }[];
  /** What it says of a document; undefined takes it. */
  refuse: (document: StoredDocument) => { readonly status: number; readonly error: object } | undefined;
  /** What it says of a request as a whole; undefined takes it. */
  answer: (bytes: number) => { readonly status: number; readonly body?: string } | undefined;
  /** Whether it hangs up instead of answering, after it has stored everything. */
  hangUp: boolean;
}

export async function startStingyStore(): Promise<StingyStore> {
  const documents = new Map<string, StoredDocument>();
  const requests: { path: string; authorization: string | undefined }[] = [];
  const state: Pick<StingyStore, 'refuse' | 'answer' | 'hangUp'> = {
    refuse: () => undefined,
    answer: () => undefined,
    hangUp: false,
  };
  const take = (document: StoredDocument) => {
    const key = `${document.index}/${document.id}`;
    const refused = state.refuse(document);
    if (refused !== undefined) return refused;
    if (documents.has(key)) return { status: 409, error: { type: 'version_conflict_engine_exception' } };
    documents.set(key, document);
    return { status: 201 };
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const text = textOf(raw);
    requests.push({ path: request.url ?? '', authorization: request.headers.authorization });
    const whole = state.answer(text.length);
    if (whole !== undefined) return response.writeHead(whole.status).end(whole.body ?? '<html>no</html>');
    const lines = text.trimEnd().split('\n');
    const items = lines.flatMap((line, at) => {
      if (at % 2 === 1) return [];
      const { create } = JSON.parse(line) as { create: { _index: string; _id: string } };
      const { _index, _id } = create;
      return [
        { create: { _index, _id, ...take({ index: _index, id: _id, source: JSON.parse(lines[at + 1] ?? '') }) } },
      ];
    });
    if (state.hangUp) return request.socket.destroy();
    const errors = items.some(({ create }) => create.status >= 300);
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ errors, items }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    documents,
    requests,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  });
}

function textOf(body: Buffer): string {
  try {
    return gunzipSync(body).toString();
  } catch {
    return body.toString();
  }
}
