/**
 * The transport: turns a request into an answer or a fault. It authenticates, waits for its turn, sends, and repeats by the rule
 * in retry-rule.ts; a 401 renews the credential once. Used by the client and by discovery only.
 *
 * Invariant: a call ends within its time limit, whatever the server, the network or the credential plugin do; what it throws is
 * a Fault, or the reason of the caller's own signal.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { resourceNameOf } from '@keelson/schema';
import type { Clock } from '../clock.ts';
import type { KubeConfig } from '../config/config.ts';
import type { Credential, Identity } from '../credential/credential.ts';
import { Fault, isFault } from '../fault.ts';
import { describeSubject, type Subject } from '../path.ts';
import { version } from '../version.ts';
import { toAnswerFault } from './answer-fault.ts';
import { toConnectionFault } from './connection-fault.ts';
import { Connections } from './connections.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { type AnswerHead, Exchange, ExchangeLost } from './exchange.ts';
import { FlowControl, type FlowControlOptions, type Load } from './flow-control.ts';
import { impersonationHeaders } from './impersonation.ts';
import type { ClientObserver } from './observer.ts';
import { parseRetryAfter, retryDelay } from './retry-rule.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  /** Path and query below the server's base URL. */
  readonly path: string;
  readonly subject: Subject;
  readonly accept: string;
  readonly contentType?: string;
  readonly body?: string;
  readonly ifNoneMatch?: string;
  /** May be carried out twice without harm. */
  readonly repeatable: boolean;
  /** Worth compressing: lists. */
  readonly large?: boolean;
  readonly urgent?: boolean;
  /** Answers of 400 and above are answers to the caller, not faults. */
  readonly anyStatus?: boolean;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export interface Answer extends AnswerHead {
  readonly body: Buffer;
}

export interface TransportOptions {
  readonly timeoutMs: number;
  readonly userAgent: string;
  readonly observer: ClientObserver;
  readonly clock: Clock;
  readonly flowControl: FlowControlOptions;
}

const unzip = promisify(gunzip);
const streamHeadTimeoutMs = 30_000;

export class Transport {
  readonly server: string;
  readonly flow: FlowControl;
  readonly #config: KubeConfig;
  readonly #credential: Credential;
  readonly #connections: Connections;
  readonly #options: TransportOptions;
  readonly #host: string;
  readonly #basePath: string;
  readonly #impersonation: Readonly<Record<string, string | string[]>>;

  constructor(config: KubeConfig, credential: Credential, options: TransportOptions) {
    const url = new URL(config.server);
    this.server = config.server;
    this.flow = new FlowControl(options.clock, options.flowControl);
    this.#config = config;
    this.#credential = credential;
    this.#connections = new Connections(config, options.clock);
    this.#options = options;
    this.#host = url.host;
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#impersonation = impersonationHeaders(config.impersonate);
  }

  /** One call and its whole answer. */
  async call(request: ApiRequest): Promise<Answer> {
    const limitMs = request.timeoutMs ?? this.#options.timeoutMs;
    const deadline = startDeadline(request.signal, limitMs);
    let last: Fault | undefined;
    try {
      return await this.#repeat(request, deadline, (fault) => {
        last = fault;
      });
    } catch (error) {
      request.signal?.throwIfAborted();
      if (!deadline.expired) throw error;
      throw timedOut(request, this.server, limitMs, last);
    } finally {
      deadline.end();
    }
  }

  /** Opens a stream (a watch, a log). It does not count as a call, and nothing is repeated but an expired credential. */
  async stream(request: ApiRequest): Promise<Exchange> {
    const deadline = startDeadline(request.signal, request.timeoutMs ?? streamHeadTimeoutMs);
    try {
      for (let renewed = false; ; renewed = true) {
        const identity = await this.#credential.current(deadline.signal);
        const exchange = await this.#send(request, identity, 'streams', request.signal);
        // The deadline is for the head alone: the stream itself lives on.
        const giveUp = () => exchange.cancel(deadline.signal.reason);
        deadline.signal.addEventListener('abort', giveUp, { once: true });
        try {
          const head = await this.#observed(request, () => exchange.head());
          if (head.status < 400) return exchange;
          const answer = { ...head, body: await exchange.readAll() };
          if (head.status === 401 && !renewed && (await this.#credential.renew(identity, deadline.signal))) continue;
          throw this.#faultOf(request, answer);
        } catch (error) {
          throw this.#lostFault(error, request);
        } finally {
          deadline.signal.removeEventListener('abort', giveUp);
        }
      }
    } catch (error) {
      request.signal?.throwIfAborted();
      if (deadline.expired) throw timedOut(request, this.server, request.timeoutMs ?? streamHeadTimeoutMs, undefined);
      throw error;
    } finally {
      deadline.end();
    }
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }

  /** A fault for what broke an open stream. */
  streamFault(error: unknown, request: ApiRequest): unknown {
    if (!(error instanceof ExchangeLost)) return error;
    const cause = error.cause instanceof Error ? error.cause.message : String(error.cause);
    const what = `the stream of ${describeSubject(request.subject)} from ${this.server} broke (${cause})`;
    return new Fault('StreamBroken', what, { request: nameOf(request) }, error.cause);
  }

  async #repeat(request: ApiRequest, deadline: Deadline, onFault: (fault: Fault) => void): Promise<Answer> {
    const { clock, observer } = this.#options;
    let renewed = false;
    for (let failed = 0; ; ) {
      const identity = await this.#credential.current(deadline.signal);
      const outcome = await this.#attempt(request, identity, deadline);
      if ('body' in outcome) {
        if (outcome.status < 400 || outcome.status === 404) return this.#settle(request, outcome);
        if (outcome.status === 401 && !renewed) {
          renewed = true;
          if (await this.#credential.renew(identity, deadline.signal)) continue;
        }
      } else if (isFault(outcome.fault, 'TlsRefused') && !renewed) {
        renewed = true;
        if (await this.#connections.renewCa()) continue;
      }
      const fault = 'body' in outcome ? this.#faultOf(request, outcome) : outcome.fault;
      onFault(fault);
      const delayMs = this.#delayOf(request, outcome, fault, failed);
      if (delayMs === undefined || delayMs > deadline.left()) {
        if ('body' in outcome) return this.#settle(request, outcome);
        throw fault;
      }
      failed += 1;
      observer.onRetry?.({ ...labelsOf(request), attempt: failed, delayMs, because: fault.message });
      await clock.sleep(delayMs, deadline.signal);
    }
  }

  #settle(request: ApiRequest, answer: Answer): Answer {
    if (answer.status >= 400 && request.anyStatus !== true) throw this.#faultOf(request, answer);
    return answer;
  }

  #delayOf(
    request: ApiRequest,
    outcome: Answer | { fault: Fault; sent: boolean },
    fault: Fault,
    failed: number,
  ): number | undefined {
    const context = { repeatable: request.repeatable, failed, random: this.#options.clock.random() };
    if (!('body' in outcome)) {
      return fault.code === 'Unreachable' ? retryDelay({ lost: outcome.sent ? 'sent' : 'unsent' }, context) : undefined;
    }
    // An eviction that a disruption budget forbids is a 429 too, but waiting is the caller's business.
    if (request.subject.subresource === 'eviction' || request.anyStatus === true) return undefined;
    const retryAfterMs = fault.details.retryAfterMs;
    return retryDelay({ status: outcome.status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }, context);
  }

  async #attempt(
    request: ApiRequest,
    identity: Identity,
    deadline: Deadline,
  ): Promise<Answer | { fault: Fault; sent: boolean }> {
    const labels = labelsOf(request);
    const permit = await this.flow.acquire(labels.resource ?? '', request.urgent === true, deadline.signal);
    if (permit.waitedMs > 0)
      this.#options.observer.onThrottle?.({ ...labels, waitedMs: permit.waitedMs, limit: this.flow.limit });
    const startedAt = this.#options.clock.monotonic();
    let load: Load = { ended: 'unknown' };
    try {
      const exchange = await this.#send(request, identity, 'calls', deadline.signal);
      const answer = await this.#observed(request, async () => {
        const head = await exchange.head();
        return { ...head, body: await decoded(head, await exchange.readAll(), request) };
      });
      load = loadOf(request, answer, this.#options.clock.monotonic() - startedAt);
      return answer;
    } catch (error) {
      if (deadline.expired) load = { ended: 'failed' };
      const fault = this.#lostFault(error, request);
      if (error instanceof ExchangeLost && isFault(fault)) return { fault, sent: error.sent };
      throw fault;
    } finally {
      permit.release(load);
    }
  }

  async #send(
    request: ApiRequest,
    identity: Identity,
    purpose: 'calls' | 'streams',
    signal: AbortSignal | undefined,
  ): Promise<Exchange> {
    const dispatcher = await this.#connections.for(purpose, identity);
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
    return new Exchange(dispatcher, this.#connections.origin, message, signal);
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

  #lostFault(error: unknown, request: ApiRequest): unknown {
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

  #faultOf(request: ApiRequest, answer: Answer): Fault {
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
}

/** What clients send as User-Agent unless told otherwise. */
export const defaultUserAgent = `keelson/${version}`;

function labelsOf(request: ApiRequest): { verb: string; resource?: string } {
  const { kind, verb } = request.subject;
  return kind === undefined ? { verb } : { verb, resource: resourceNameOf(kind) };
}

function nameOf(request: ApiRequest): string {
  return `${request.method} ${request.path}`;
}

function loadOf(request: ApiRequest, answer: Answer, latencyMs: number): Load {
  const { status, headers } = answer;
  if (status === 429 || (status === 503 && headers['retry-after'] !== undefined)) return { ended: 'turned-away' };
  if (status >= 500) return { ended: 'failed' };
  return {
    ended: 'well',
    latencyMs,
    sort: request.subject.verb === 'list' ? 'list' : request.method === 'GET' ? 'read' : 'write',
  };
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

function timedOut(request: ApiRequest, server: string, limitMs: number, last: Fault | undefined): Fault {
  const what = `cannot ${request.subject.verb} ${describeSubject(request.subject)}: ${server} gave no answer within ${limitMs / 1000} s`;
  const before = last === undefined ? '' : `; the last attempt: ${last.message}`;
  return new Fault('TimedOut', what + before, { request: nameOf(request), maybeDone: request.method !== 'GET' }, last);
}
