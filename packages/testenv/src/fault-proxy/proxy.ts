/**
 * The fault proxy: stands before the API server and lets tests decide what goes wrong, and when.
 *
 * It ends TLS with a certificate of the environment's authority, speaks HTTP/1.1 to both sides and forwards each request
 * under its true user. Rules (rule.ts) and hooks see every request before it reaches the API server and every answer
 * before it reaches the client. Invariant: without rules it changes nothing but the connection; a client that is gone
 * never has a request of its own forwarded later. Requests that upgrade the connection (exec, attach, port-forward) are
 * not forwarded and are answered with 501.
 */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import type { KeyPair } from '../pki.ts';
import type { Identity } from '../test-env.ts';
import { type Exchange, type ExchangeMatch, matches, type Peer, toExchange, toPeer } from './exchange.ts';
import { WriteGate, type WritePause } from './pause.ts';
import { type FaultAction, type FaultRule, RuleBook, type RuleHandle, type Strike } from './rule.ts';
import { statusBody } from './status-body.ts';
import { passableHeaders, type Upstream } from './upstream.ts';
import { type Ending, watchStream } from './watch-stream.ts';

/** Called for each request before it is forwarded; the request waits until it resolves. */
export type RequestHook = (exchange: Exchange) => void | Promise<void>;

/** Called for each answer of the API server before the client gets it; the answer waits until it resolves. */
export type ResponseHook = (exchange: Exchange, code: number) => void | Promise<void>;

/** What a proxy is made from. */
export interface FaultProxyParts {
  readonly port: number;
  readonly certificate: KeyPair;
  readonly clientAuthority: string;
  readonly upstream: Upstream;
  readonly random: () => number;
  readonly kubeconfig: string;
  readonly kubeconfigFor: (identity: Identity) => Promise<string>;
}

interface Open {
  readonly exchange: Exchange;
  readonly response: ServerResponse;
}

/** A proxy before the API server that makes things go wrong on demand. */
export class FaultProxy implements AsyncDisposable {
  /** URL to use in place of the API server's. */
  readonly url: string;
  /** Path of the administrator's kubeconfig through this proxy. */
  readonly kubeconfig: string;
  /** Writes a kubeconfig through this proxy for a user or ServiceAccount and gives its path. */
  readonly kubeconfigFor: (identity: Identity) => Promise<string>;
  readonly #port: number;
  readonly #server: Server;
  readonly #upstream: Upstream;
  readonly #rules: RuleBook;
  readonly #connections = new Map<number, Socket>();
  readonly #open = new Set<Open>();
  readonly #requestHooks = new Set<RequestHook>();
  readonly #responseHooks = new Set<ResponseHook>();
  #requests = 0;

  private constructor(parts: FaultProxyParts) {
    this.url = `https://127.0.0.1:${parts.port}`;
    this.kubeconfig = parts.kubeconfig;
    this.kubeconfigFor = parts.kubeconfigFor;
    this.#port = parts.port;
    this.#upstream = parts.upstream;
    this.#rules = new RuleBook(parts.random);
    const { certificate, key } = parts.certificate;
    this.#server = createServer(
      { cert: certificate, key, ca: parts.clientAuthority, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        this.#serve(request, response).catch((error: unknown) => {
          // Only a hook can throw. Its client must not wait for ever, and its author must hear of it: as a rejection.
          this.#reset(response);
          throw error;
        });
      },
    );
    this.#server.on('connection', (socket: Socket) => this.#track(socket));
    this.#server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 501 Not Implemented\r\n\r\n'));
    // A watch has no end, and a held request may wait for as long as a test likes.
    Object.assign(this.#server, { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 });
  }

  /** Starts a proxy; resolves when it listens. */
  static async start(parts: FaultProxyParts): Promise<FaultProxy> {
    const proxy = new FaultProxy(parts);
    await proxy.up();
    return proxy;
  }

  /** How many requests came in so far. */
  get requests(): number {
    return this.#requests;
  }

  /** Adds a rule; it works from the next request on. */
  rule(rule: FaultRule): RuleHandle {
    return this.#rules.add(rule);
  }

  /** Takes all rules away. */
  clearRules(): void {
    this.#rules.clear();
  }

  /** Runs code at each request; gives a function that ends it. */
  onRequest(hook: RequestHook): () => void {
    this.#requestHooks.add(hook);
    return () => this.#requestHooks.delete(hook);
  }

  /** Runs code at each answer of the API server; gives a function that ends it. */
  onResponse(hook: ResponseHook): () => void {
    this.#responseHooks.add(hook);
    return () => this.#responseHooks.delete(hook);
  }

  /** Lets exactly so many (matching) writes be done, keeps the answer of the last and all further ones waiting. */
  pauseAfterWrites(count: number, match: ExchangeMatch = {}): WritePause {
    const gate = new WriteGate(count, match);
    const forget = [
      this.onRequest((exchange) => gate.beforeRequest(exchange)),
      this.onResponse((exchange) => gate.beforeResponse(exchange)),
    ];
    gate.released.then(() => {
      for (const end of forget) end();
    });
    return gate;
  }

  /** Resets the connections of all requests that are open now and match; without a match, every connection. */
  cutAll(match?: ExchangeMatch): void {
    if (!match) for (const socket of this.#connections.values()) socket.resetAndDestroy();
    else for (const open of this.#open) if (matches(open.exchange, match)) this.#reset(open.response);
  }

  /** Refuses connections, and ends those that exist, as if the API server were gone. */
  async down(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cutAll();
    await closed;
  }

  /** Accepts connections again, on the same port. */
  async up(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#server.unref();
  }

  /** Ends the proxy. */
  async close(): Promise<void> {
    this.clearRules();
    await this.down();
    this.#upstream.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#requests += 1;
    const peer = toPeer(request.socket as TLSSocket);
    const exchange = toExchange(request, peer, this.#requests);
    const open = { exchange, response };
    this.#open.add(open);
    response.once('close', () => this.#open.delete(open));
    response.on('error', () => {});
    if (peer.kind === 'refused') return answer(response, 401, { message: `client certificate: ${peer.why}` });

    for (const hook of this.#requestHooks) await hook(exchange);
    const strikes = this.#rules.strike(exchange);
    for (const strike of strikes) {
      if (await this.#strikeRequest(strike, response)) return;
    }
    // While it waited the client may have gone: what it no longer asks for must not happen.
    if (request.socket.destroyed) return;
    await this.#forward(request, response, peer, exchange, strikes);
  }

  /** Applies a fault on the way to the API server; true means that the exchange is over. */
  async #strikeRequest({ fault, released }: Strike, response: ServerResponse): Promise<boolean> {
    if (fault.kind === 'delay') await sleep(fault.ms);
    if (fault.kind === 'hold' && fault.at !== 'response') await released;
    if (fault.kind === 'reset' && fault.at !== 'response') this.#reset(response);
    if (fault.kind === 'answer') answer(response, fault.code, fault);
    return (fault.kind === 'reset' && fault.at !== 'response') || fault.kind === 'answer';
  }

  async #forward(
    request: IncomingMessage,
    response: ServerResponse,
    peer: Peer,
    exchange: Exchange,
    strikes: readonly Strike[],
  ): Promise<void> {
    const outgoing = this.#upstream.open(request, peer);
    response.once('close', () => outgoing.destroy());
    request.pipe(outgoing);
    const incoming = await new Promise<IncomingMessage | undefined>((resolve) => {
      outgoing.once('response', resolve);
      outgoing.on('error', () => resolve(undefined));
    });
    // The API server hung up or is down: the client sees what it would see without a proxy.
    if (!incoming) return this.#reset(response);
    incoming.on('error', () => this.#reset(response));

    const code = incoming.statusCode ?? 502;
    for (const hook of this.#responseHooks) await hook(exchange, code);
    for (const { fault, released } of strikes) {
      if (fault.kind === 'hold' && fault.at === 'response') await released;
      if (fault.kind === 'reset' && fault.at === 'response') return this.#reset(response);
    }
    response.writeHead(code, passableHeaders(incoming.headers));
    // A watch may have no event for minutes, but its client must learn at once that it is open.
    response.flushHeaders();
    this.#stream(
      incoming,
      response,
      exchange,
      strikes.map((strike) => strike.fault),
    );
  }

  #stream(
    incoming: IncomingMessage,
    response: ServerResponse,
    exchange: Exchange,
    faults: readonly FaultAction[],
  ): void {
    const end = (ending: Ending) => {
      if (ending === 'clean') response.end();
      else response.socket?.destroySoon();
      incoming.destroy();
    };
    for (const fault of faults) {
      if (fault.kind !== 'cut' || fault.afterEvents !== undefined || fault.halfEvent) continue;
      const timer = setTimeout(() => end(fault.how ?? 'abrupt'), fault.afterMs ?? 0);
      response.once('close', () => clearTimeout(timer));
    }
    const isJson = String(incoming.headers['content-type']).startsWith('application/json');
    if (!exchange.watch || !isJson || incoming.statusCode !== 200 || faults.length === 0) {
      incoming.pipe(response);
      return;
    }
    const events = watchStream(faults);
    events.once('end', () => end(events.ending));
    incoming.pipe(events).pipe(response, { end: false });
  }

  #track(socket: Socket): void {
    const port = socket.remotePort ?? 0;
    this.#connections.set(port, socket);
    socket.once('close', () => this.#connections.delete(port));
    socket.on('error', () => {});
  }

  /** Resets the TCP connection under the TLS one, which has no reset of its own. */
  #reset(response: ServerResponse): void {
    const socket = response.socket;
    const connection = this.#connections.get(socket?.remotePort ?? 0);
    if (connection) connection.resetAndDestroy();
    socket?.destroy();
  }
}

function answer(response: ServerResponse, code: number, details: Parameters<typeof statusBody>[1] = {}): void {
  const { retryAfterSeconds } = details;
  response.writeHead(code, {
    'content-type': 'application/json',
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  });
  response.end(JSON.stringify(statusBody(code, details)));
}
