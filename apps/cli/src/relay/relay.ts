/**
 * `keelson relay`: stands between the collector of a gateway and the store, and sees to it that a document which the store refuses is
 * neither lost nor in the way. It runs in the pod of the gateway and listens on its loopback. What becomes of a request: deliver.ts.
 *
 * Invariant: it holds nothing. Ended in any way and at any time, the collector finds nobody there, waits, and sends again.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import type { RelayOptions } from '../commands/relay.ts';
import { failure } from '../failure.ts';
import { onInterrupt } from '../run/signals.ts';
import type { Shell } from '../shell.ts';
import type { Answer, Bulk } from './bulk.ts';
import { deliver, failed, type Relay } from './deliver.ts';
import { Journal } from './journal.ts';
import { Store } from './store.ts';

/** Far more than a gateway sends at once. */
const LARGEST_BODY = 128 * 1024 * 1024;
/** For requests that are under way when it is told to end. */
const DRAIN_MS = 20_000;
/** Longer than the other side keeps a connection that it does not use, so that none is closed while it begins to. */
const IDLE_MS = 120_000;

/** Runs until a signal ends it. */
export async function relay(options: RelayOptions, shell: Shell): Promise<void> {
  const journal = new Journal(shell.out, () => new Date());
  const interruption = onInterrupt(shell, (signal) => journal.say({ level: 'info', message: `ending on ${signal}` }));
  try {
    const running = await startRelay(options, await openStore(options, shell), journal);
    journal.say({
      level: 'info',
      message: 'ready',
      listen: running.listen,
      status: running.status,
      store: options.url,
    });
    if (!interruption.signal.aborted) await once(interruption.signal, 'abort');
    await running.stop();
  } finally {
    interruption.release();
  }
}

interface RunningRelay {
  /** Where it takes requests: `127.0.0.1:9210`. */
  readonly listen: string;
  /** Where it serves /healthz and /metrics. */
  readonly status: string;
  /** When the requests at hand are answered. */
  stop(): Promise<void>;
}

/** Takes requests from now on; the store is its own, and goes with it. */
export async function startRelay(
  { deadLetters, listen: { host, port }, statusPort }: Pick<RelayOptions, 'deadLetters' | 'listen' | 'statusPort'>,
  store: Store,
  journal: Journal,
): Promise<RunningRelay> {
  const way: Relay = {
    ask: (bulk) => store.ask(bulk),
    deadLetters,
    now: () => new Date(),
    inTurn: oneByOne(),
    tell: (letter, outcome) => journal.refused(letter, outcome),
    hold: (index, refusal, documents) => journal.held(index, refusal, documents),
  };
  const gate = bulkServer((bulk) => deliver(bulk, way), journal);
  const status = statusServer(journal);
  const stop = async () => {
    await end(gate, DRAIN_MS);
    await end(status, 0);
    await store.close();
  };
  try {
    return { listen: await listen(gate, port, host), status: await listen(status, statusPort), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openStore({ url, caFile, insecureSkipVerify }: RelayOptions, shell: Shell): Promise<Store> {
  const file = caFile === undefined ? undefined : resolve(shell.cwd, caFile);
  try {
    return await Store.open({
      url: new URL(url),
      ...(file === undefined ? {} : { caFile: file }),
      ...(insecureSkipVerify === undefined ? {} : { insecureSkipVerify }),
    });
  } catch (error) {
    throw failure('usage', `--ca-file ${file} cannot be read`, 'name a file with certificates in PEM', error);
  }
}

/** Takes `POST …/_bulk`, as an exporter sends it, and nothing else. */
function bulkServer(take: (bulk: Bulk) => Promise<Answer>, journal: Journal): Server {
  return createServer({ keepAliveTimeout: IDLE_MS }, async (request, response) => {
    // The exporter talks to nothing that does not say that it is Elasticsearch, OpenSearch included.
    const say = ({ status, body }: Answer) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' })
        .end(body);
    const decline = (answer: Answer) => {
      journal.declined(answer);
      return say(answer);
    };
    const { method, url = '' } = request;
    if (method !== 'POST' || !/^(\/[^/?]+)?\/_bulk(\?|$)/.test(url))
      return decline(failed(404, 'only _bulk is relayed'));
    try {
      const body = await bodyOf(request);
      if (body === undefined) return decline(failed(413, 'the request is too large for the relay'));
      const { authorization } = request.headers;
      const gzip = request.headers['content-encoding'] === 'gzip';
      const answer = await take({ path: url, body, gzip, ...(authorization === undefined ? {} : { authorization }) });
      journal.answered(answer);
      return say(answer);
    } catch (error) {
      // A body that is not what it says, or whose sender has gone, or a fault of our own: it is with its sender still.
      journal.failed(error);
      return say(failed(500, 'the relay could not work on the request: its log says why'));
    }
  });
}

/** Undefined where it is too large; it is read to its end all the same, because who still sends hears no answer. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > LARGEST_BODY) chunks.length = 0;
    else chunks.push(chunk);
  }
  return size > LARGEST_BODY ? undefined : Buffer.concat(chunks);
}

function oneByOne(): Relay['inTurn'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/** For the kubelet and for Prometheus. */
function statusServer(journal: Journal): Server {
  return createServer(({ url }, response) => {
    if (url === '/healthz') return response.writeHead(200).end('ok\n');
    if (url === '/metrics')
      return response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(journal.figures());
    return response.writeHead(404).end();
  });
}

async function listen(server: Server, port: number, host?: string): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw failure(
      'failed',
      `cannot listen on port ${port}: ${why}`,
      'choose another one with --listen or --status-port',
      error,
    );
  }
  const { address, family, port: taken } = server.address() as AddressInfo;
  return family === 'IPv6' ? `[${address}]:${taken}` : `${address}:${taken}`;
}

async function end(server: Server, withinMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const impatience = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearTimeout(impatience);
}
