/**
 * The HTTPS server that the API server calls: bytes in, a route's answer out.
 *
 * Invariants: whatever comes in, it answers and goes on (a bad request is a 4xx, a bug a 500); changing the certificate
 * touches no open connection; after `stop` no request that was accepted is dropped within the deadline. It knows nothing of reviews:
 * webhooks.ts gives it the routes and the certificate.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Clock } from '@keelson/kube';
import type { Logger } from '../logging/logger.ts';
import type { Answer } from './answer.ts';
import { badRequest, failure, message } from './answer.ts';
import type { WebhookObserver } from './observer.ts';

export interface Route {
  readonly answer: (body: unknown) => Answer;
  /** Larger bodies are refused unread. */
  readonly bodyLimitBytes: number;
}

export interface ServerOptions {
  /** By path. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Every address unless told. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** How long a caller may take to send its request. */
  readonly requestTimeoutMs?: number;
  readonly observer: WebhookObserver;
  readonly logger: Logger;
  readonly clock: Clock;
}

export class WebhookServer {
  readonly #options: ServerOptions;
  readonly #server: Server;
  #inFlight = 0;
  #stopping = false;
  #idle: (() => void) | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    const requestTimeout = options.requestTimeoutMs ?? 30_000;
    this.#server = createServer({
      minVersion: 'TLSv1.2',
      requestTimeout,
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: requestTimeout / 4,
    });
    // The API server keeps idle connections for 90 s; if we closed one first, the request that it sends at that moment would fail.
    this.#server.keepAliveTimeout = 120_000;
    this.#server.on('request', (request, response) => void this.#serve(request, response));
    this.#server.on('tlsClientError', (error) => {
      options.observer.handshakeFailed();
      options.logger.debug({ error: error.message }, 'TLS handshake failed');
    });
  }

  /** Binds the port; rejects with the remedy when it is taken or not ours to take. */
  async listen(): Promise<number> {
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host ?? '*', port)));
      this.#server.listen(port, host, () => resolve());
    });
    // From here on an error of the listening socket is one connection that could not be accepted.
    this.#server
      .removeAllListeners('error')
      .on('error', (error) => this.#options.logger.warn({ error: error.message }, 'webhook server'));
    return (this.#server.address() as AddressInfo).port;
  }

  /** New connections get this certificate; those that are open stay as they are. */
  use(certificate: { cert: string; key: string }): void {
    this.#server.setSecureContext({ ...certificate, minVersion: 'TLSv1.2' });
  }

  /**
   * Goes on for `drainMs`, telling each caller to open its next connection elsewhere; then takes nothing new, answers what is
   * under way, and is gone at the deadline at the latest.
   */
  async stop({ drainMs, deadlineMs }: { drainMs: number; deadlineMs: number }): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    if (!this.#server.listening) return;
    if (drainMs > 0) await this.#options.clock.sleep(drainMs);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const deadline = new AbortController();
    const drained = new Promise<void>((resolve) => {
      this.#idle = resolve;
      if (this.#inFlight === 0) resolve();
    });
    await Promise.race([drained, this.#options.clock.sleep(deadlineMs, deadline.signal).catch(() => undefined)]);
    deadline.abort();
    // What is still open has no request on it, or one that missed the deadline.
    this.#server.closeAllConnections();
    await closed;
  }

  /** Serves one request; never throws, because nobody waits for it. */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const webhook = URL.parse(request.url ?? '/', 'https://webhooks')?.pathname;
    const route = webhook === undefined ? undefined : this.#options.routes.get(webhook);
    if (webhook === undefined || route === undefined) {
      const refusal =
        webhook === undefined
          ? badRequest(`cannot read the path '${request.url}'`)
          : failure(
              404,
              'NotFound',
              `there is no webhook at ${webhook}: this process serves ${[...this.#options.routes.keys()].join(', ')}`,
            );
      await this.#send(request, response, refusal).catch(() => response.destroy());
      return;
    }

    const { clock, observer, logger } = this.#options;
    const startedAt = clock.monotonic();
    this.#inFlight += 1;
    observer.started(webhook);
    let code = 0;
    try {
      const answer = await this.#answer(route, request);
      code = answer.code;
      if (answer.threw !== undefined) {
        observer.threw(webhook);
        logger.error({ webhook, err: answer.threw }, 'an admission or conversion function threw');
      }
      await this.#send(request, response, answer);
    } catch (error) {
      // The caller went away: there is nobody to answer.
      code ||= 499;
      logger.debug({ webhook, error: message(error) }, 'caller closed the connection');
      response.destroy();
    } finally {
      observer.finished({ webhook, code, seconds: (clock.monotonic() - startedAt) / 1000 });
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#idle?.();
    }
  }

  async #answer(route: Route, request: IncomingMessage): Promise<Answer> {
    if (request.method !== 'POST') return failure(405, 'MethodNotAllowed', `use POST, not ${request.method}`);
    const type = request.headers['content-type'] ?? '';
    if (!/^application\/json\b/i.test(type))
      return failure(415, 'UnsupportedMediaType', `the content type must be application/json, not '${type}'`);
    const text = await readBody(request, route.bodyLimitBytes);
    if (text === undefined)
      return failure(413, 'RequestEntityTooLarge', `the body is larger than ${route.bodyLimitBytes} bytes`);
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch (error) {
      return badRequest(`the body is not JSON: ${message(error)}`);
    }
    try {
      return route.answer(body);
    } catch (error) {
      return { ...failure(500, 'InternalError', `the webhook failed: ${message(error)}`), threw: error };
    }
  }

  #send(request: IncomingMessage, response: ServerResponse, { code, body }: Answer): Promise<void> {
    return new Promise((resolve, reject) => {
      const payload = Buffer.from(JSON.stringify(body));
      const headers = { 'content-type': 'application/json', 'content-length': payload.length };
      // Whoever is told so opens its next connection to another replica; a body that was not read cannot be followed by a request.
      const last = this.#stopping || !request.complete;
      response.once('error', reject).once('close', () => resolve());
      response.writeHead(code, last ? { ...headers, connection: 'close' } : headers);
      response.end(payload, () => resolve());
    });
  }
}

/** The body as text; undefined when it is larger than the limit. */
async function readBody(request: IncomingMessage, limit: number): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const remedy =
    error.code === 'EADDRINUSE'
      ? 'another process has this port: stop it, or choose another port for the webhooks'
      : error.code === 'EACCES'
        ? 'this user may not bind it: choose a port above 1023'
        : error.code === 'EADDRNOTAVAIL'
          ? 'this machine has no such address: choose another host for the webhooks'
          : message(error);
  return new Error(`webhooks cannot listen on ${host}:${port}: ${remedy}`, { cause: error });
}
