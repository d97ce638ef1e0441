/**
 * Puts one request on the wire, tells the observer, and puts what comes back or breaks into words. No loop and no retry here:
 * those are the transport's.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Clock } from '../clock.ts';
import type { KubeConfig } from '../config/config.ts';
import type { Credential, Identity } from '../credential/credential.ts';
import { Fault } from '../fault.ts';
import { describeSubject } from '../path.ts';
import { toAnswerFault } from './answer-fault.ts';
import { type Answer, type ApiRequest, labelsOf, nameOf } from './api-request.ts';
import { toConnectionFault } from './connection-fault.ts';
import { Connections } from './connections.ts';
import { type AnswerHead, Exchange, ExchangeLost } from './exchange.ts';
import { impersonationHeaders } from './impersonation.ts';
import type { ClientObserver } from './observer.ts';
import { parseRetryAfter } from './retry-rule.ts';

export interface SenderOptions {
  readonly userAgent: string;
  readonly observer: ClientObserver;
  readonly clock: Clock;
}

const unzip = promisify(gunzip);

export class Sender {
  readonly server: string;
  readonly connections: Connections;
  readonly #config: KubeConfig;
  readonly #credential: Credential;
  readonly #options: SenderOptions;
  readonly #host: string;
  readonly #basePath: string;
  readonly #impersonation: Readonly<Record<string, string | string[]>>;

  constructor(config: KubeConfig, credential: Credential, options: SenderOptions) {
    const url = new URL(config.server);
    this.server = config.server;
    this.connections = new Connections(config, options.clock);
    this.#config = config;
    this.#credential = credential;
    this.#options = options;
    this.#host = url.host;
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#impersonation = impersonationHeaders(config.impersonate);
  }

  /** A call: its whole answer. */
  async call(request: ApiRequest, identity: Identity, signal: AbortSignal): Promise<Answer> {
    const exchange = await this.#send(request, identity, 'calls', signal);
    return this.#observed(request, async () => {
      const head = await exchange.head();
      return { ...head, body: await decoded(head, await exchange.readAll(), request) };
    });
  }

  /**
   * A stream: the exchange whose body is still to be read, or the whole answer by which it was refused. The signal gives up on
   * anything but a stream that was accepted: a refusal whose body never ends would hold its reader for ever.
   */
  async open(
    request: ApiRequest,
    identity: Identity,
    signal: AbortSignal,
  ): Promise<{ accepted: Exchange } | { refused: Answer }> {
    const exchange = await this.#send(request, identity, 'streams', request.signal);
    const giveUp = () => exchange.cancel(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    try {
      const head = await this.#observed(request, () => exchange.head());
      return head.status < 400 ? { accepted: exchange } : { refused: { ...head, body: await exchange.readAll() } };
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** What a lost connection means; any other error is itself. */
  lostFault(error: unknown, request: ApiRequest): unknown {
    if (!(error instanceof ExchangeLost)) return error;
    const proxied = this.#config.proxy !== undefined;
    return toConnectionFault({
      error: error.cause,
      server: this.server,
      request: nameOf(request),
      sent: error.sent,
      proxied,
    });
  }

  /** The fault for an answer of 400 or above. */
  answerFault(request: ApiRequest, answer: Answer): Fault {
    const retryAfterMs = parseRetryAfter(answer.headers['retry-after'], this.#options.clock.now());
    if (answer.status === 401) {
      const what = `cannot ${request.subject.verb} ${describeSubject(request.subject)}: ${this.server} does not accept who we are`;
      return new Fault('Unauthorized', `${what}: ${this.#credential.explain()}`, {
        status: 401,
        request: nameOf(request),
      });
    }
    return toAnswerFault({
      status: answer.status,
      body: answer.body.toString('utf8'),
      request: nameOf(request),
      subject: request.subject,
      server: this.server,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }

  /** What broke an open stream; any other error is itself. */
  streamFault(error: unknown, request: ApiRequest): unknown {
    if (!(error instanceof ExchangeLost)) return error;
    const cause = error.cause instanceof Error ? error.cause.message : String(error.cause);
    const what = `the stream of ${describeSubject(request.subject)} from ${this.server} broke (${cause})`;
    return new Fault('StreamBroken', what, { request: nameOf(request) }, error.cause);
  }

  async #send(
    request: ApiRequest,
    identity: Identity,
    purpose: 'calls' | 'streams',
    signal: AbortSignal | undefined,
  ): Promise<Exchange> {
    const dispatcher = await this.connections.for(purpose, identity);
    const headers: Record<string, string | string[]> = {
      accept: request.accept,
      'user-agent': this.#options.userAgent,
      ...this.#impersonation,
    };
    if (request.large === true && !this.#config.disableCompression) headers['accept-encoding'] = 'gzip';
    if (request.contentType !== undefined) headers['content-type'] = request.contentType;
    if (request.ifNoneMatch !== undefined) headers['if-none-match'] = request.ifNoneMatch;
    if (identity.authorization !== undefined) headers.authorization = identity.authorization.reveal();
    const path = this.#basePath + request.path;
    const message = {
      method: request.method,
      path,
      headers,
      ...(request.body === undefined ? {} : { body: request.body }),
    };
    return new Exchange(dispatcher, this.connections.origin, message, { signal, guard: request.guard });
  }

  async #observed<T extends AnswerHead>(request: ApiRequest, work: () => Promise<T>): Promise<T> {
    const { clock, observer } = this.#options;
    const startedAt = clock.monotonic();
    const report = (code: string) =>
      observer.onRequest?.({
        ...labelsOf(request),
        method: request.method,
        host: this.#host,
        code,
        durationMs: clock.monotonic() - startedAt,
      });
    try {
      const answer = await work();
      report(String(answer.status));
      for (const warning of [answer.headers.warning ?? []].flat())
        observer.onWarning?.(warning.replace(/^\d+ \S+ "(.*)"$/, '$1'));
      return answer;
    } catch (error) {
      report('<error>');
      throw error;
    }
  }
}

async function decoded(head: AnswerHead, body: Buffer, request: ApiRequest): Promise<Buffer> {
  if (head.headers['content-encoding'] !== 'gzip') return body;
  try {
    return await unzip(body);
  } catch (error) {
    const what = `cannot ${request.subject.verb} ${describeSubject(request.subject)}: the compressed answer is damaged`;
    throw new Fault('UnexpectedAnswer', what, { status: head.status, request: nameOf(request) }, error);
  }
}
