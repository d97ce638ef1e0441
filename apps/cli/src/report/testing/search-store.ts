/**
 * A plain HTTP server that speaks just enough of `_bulk` and `_search` to keep documents and to make things go wrong on demand.
 * What a real store does with the same requests is tried in vulnerabilities.parts.test.ts.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Source = Record<string, unknown>;

interface Stored {
  source: Source;
  version: number;
}

/** What goes wrong with one request. */
export type Trouble =
  | { readonly answer: number; readonly body?: string; readonly headers?: Record<string, string> }
  | 'reset'
  /** Carried out, but the answer gets lost. */
  | 'lost';

export interface SearchStore extends AsyncDisposable {
  readonly url: string;
  readonly documents: ReadonlyMap<string, Source>;
  /** `POST /security-vuln/_bulk`, one a request. */
  readonly requests: readonly {
    readonly what: string;
    readonly bytes: number;
    readonly authorization: string | undefined;
  }[];
  /** These requests fail, in order, the next one first. */
  fail(...troubles: readonly Trouble[]): void;
  /** Decides the status of each item of `_bulk`; undefined carries it out. */
  refuse(item: (id: string) => { status: number; type: string; reason: string } | undefined): void;
  /** Larger requests are answered 413. */
  limit(bytes: number): void;
}

export async function startSearchStore(): Promise<SearchStore> {
  const documents = new Map<string, Stored>();
  const requests: SearchStore['requests'][number][] = [];
  let troubles: Trouble[] = [];
  let refuse: Parameters<SearchStore['refuse']>[0] = () => undefined;
  let largest = Number.POSITIVE_INFINITY;
  let pending: string[] = [];

  const update = (action: { _id: string; if_seq_no?: number }, body: { doc: Source; upsert?: Source }): object => {
    const refused = refuse(action._id);
    if (refused !== undefined) {
      const { status, ...error } = refused;
      return { update: { _id: action._id, status, error } };
    }
    const stored = documents.get(action._id);
    if (action.if_seq_no !== undefined && action.if_seq_no !== stored?.version)
      return { update: { _id: action._id, status: 409, error: { type: 'version_conflict_engine_exception' } } };
    if (stored === undefined) {
      documents.set(action._id, { source: body.upsert ?? body.doc, version: 0 });
      return { update: { _id: action._id, status: 201, result: 'created' } };
    }
    documents.set(action._id, { source: merge(stored.source, body.doc), version: stored.version + 1 });
    return { update: { _id: action._id, status: 200, result: 'updated' } };
  };

  const bulk = (text: string): object => {
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as never);
    const items: object[] = [];
    for (let at = 0; at < lines.length; at += 2) {
      const { update: action } = lines[at] as unknown as { update: { _id: string; if_seq_no?: number } };
      items.push(update(action, lines[at + 1] as unknown as { doc: Source }));
    }
    return { errors: items.some((item) => JSON.stringify(item).includes('"error"')), items };
  };

  const page = (): object => {
    const hits = pending.splice(0, 2).map((id) => {
      const { source, version } = documents.get(id) ?? { source: {}, version: -1 };
      return { _id: id, _seq_no: version, _primary_term: 1, _source: { orchestrator: source.orchestrator } };
    });
    return { _scroll_id: 'scroll', hits: { hits } };
  };

  const answer = (method: string, path: string, text: string): object => {
    if (path.includes('/_bulk')) return bulk(text);
    if (path.startsWith('/_search/scroll')) return method === 'DELETE' ? {} : page();
    if (!path.includes('/_search')) return {};
    const { query } = JSON.parse(text) as { query: { bool: { must_not: { ids: { values: string[] } }[] } } };
    const seen = /"lt":"([^"]+)"/.exec(text)?.[1] ?? '';
    const except = query.bool.must_not.flatMap(({ ids }) => ids.values);
    pending = [...documents]
      .filter(([id, { source }]) => isOpenBefore(source, seen) && !except.includes(id))
      .map(([id]) => id);
    return page();
  };

  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { method = '', url = '', headers } = request;
    requests.push({ what: `${method} ${url.split('?')[0]}`, bytes: text.length, authorization: headers.authorization });
    const [trouble, ...later] = troubles;
    troubles = later;
    if (trouble === 'reset') return request.socket.destroy();
    if (typeof trouble === 'object') return response.writeHead(trouble.answer, trouble.headers).end(trouble.body ?? '');
    if (text.length > largest) return response.writeHead(413).end();
    const body = JSON.stringify(answer(method, url, text));
    if (trouble === 'lost') return request.socket.destroy();
    return response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get documents() {
      return new Map([...documents].map(([id, { source }]) => [id, source]));
    },
    requests,
    fail: (...next) => {
      troubles = [...next];
    },
    refuse: (item) => {
      refuse = item;
    },
    limit: (bytes) => {
      largest = bytes;
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function isOpenBefore(source: Source, seen: string): boolean {
  const { status } = source.vulnerability as { status: string };
  const { ingested } = source.event as { ingested: string };
  return status === 'open' && ingested < seen;
}

/** As an update with `doc` merges. */
function merge(into: unknown, from: unknown): Source {
  const isMap = (value: unknown): value is Source =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const merged: Source = { ...(isMap(into) ? into : {}) };
  for (const [key, value] of Object.entries(isMap(from) ? from : {})) {
    merged[key] = isMap(value) ? merge(merged[key], value) : value;
  }
  return merged;
}
