/**
 * The transport: turns a request into an answer or a fault. It authenticates, waits for its turn, sends, and repeats by the rule
 * in retry-rule.ts; a 401 renews the credential once. Used by the client and by discovery only.
 *
 * Invariant: a call ends within its time limit, whatever the server, the network or the credential plugin do; what it throws is
 * a Fault, the reason of the caller's own signal, or what the caller's guard threw.
 */
import type { KubeConfig } from '../config/config.ts';
import type { Credential, Identity } from '../credential/credential.ts';
import { Fault, isFault } from '../fault.ts';
import { describeSubject } from '../path.ts';
import { type Answer, type ApiRequest, labelsOf, nameOf } from './api-request.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { type Exchange, ExchangeLost } from './exchange.ts';
import { FlowControl, type FlowControlOptions, type Load } from './flow-control.ts';
import { retryDelay } from './retry-rule.ts';
import { Sender, type SenderOptions } from './sender.ts';

export interface TransportOptions extends SenderOptions {
  readonly timeoutMs: number;
  readonly streamTimeoutMs: number;
  readonly flowControl: FlowControlOptions;
}

export class Transport {
  readonly #credential: Credential;
  readonly #sender: Sender;
  readonly #flow: FlowControl;
  readonly #options: TransportOptions;

  constructor(config: KubeConfig, credential: Credential, options: TransportOptions) {
    this.#credential = credential;
    this.#sender = new Sender(config, credential, options);
    this.#flow = new FlowControl(options.clock, options.flowControl);
    this.#options = options;
  }

  get server(): string {
    return this.#sender.server;
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
    const limitMs = request.timeoutMs ?? this.#options.streamTimeoutMs;
    // Until the server has accepted or refused it: the stream itself lives on.
    const deadline = startDeadline(request.signal, limitMs);
    try {
      for (let renewed = false; ; renewed = true) {
        const identity = await this.#credential.current(deadline.signal);
        const opened = await this.#sender.open(request, identity, deadline.signal);
        if ('accepted' in opened) return opened.accepted;
        const { status } = opened.refused;
        if (status === 401 && !renewed && (await this.#credential.renew(identity, deadline.signal))) continue;
        throw this.#sender.answerFault(request, opened.refused);
      }
    } catch (error) {
      request.signal?.throwIfAborted();
      throw deadline.expired ? timedOut(request, this.server, limitMs) : this.#sender.lostFault(error, request);
    } finally {
      deadline.end();
    }
  }

  /** What broke a stream that was open; any other error is itself. */
  streamFault(error: unknown, request: ApiRequest): unknown {
    return this.#sender.streamFault(error, request);
  }

  async close(): Promise<void> {
    await this.#sender.connections.close();
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
        if (await this.#sender.connections.renewCa()) continue;
      }
      const fault = 'body' in outcome ? this.#sender.answerFault(request, outcome) : outcome.fault;
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
    if (answer.status >= 400 && request.anyStatus !== true) throw this.#sender.answerFault(request, answer);
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
    const permit = await this.#flow.acquire(labels.resource ?? '', request.urgent === true, deadline.signal);
    if (permit.waitedMs > 0)
      this.#options.observer.onThrottle?.({ ...labels, waitedMs: permit.waitedMs, limit: this.#flow.limit });
    const startedAt = this.#options.clock.monotonic();
    let load: Load = { ended: 'unknown' };
    try {
      const answer = await this.#sender.call(request, identity, deadline.signal);
      load = loadOf(request, answer, this.#options.clock.monotonic() - startedAt);
      return answer;
    } catch (error) {
      if (deadline.expired) load = { ended: 'failed' };
      const fault = this.#sender.lostFault(error, request);
      if (error instanceof ExchangeLost && isFault(fault)) return { fault, sent: error.sent };
      throw fault;
    } finally {
      permit.release(load);
    }
  }
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

function timedOut(request: ApiRequest, server: string, limitMs: number, last?: Fault): Fault {
  const what = `cannot ${request.subject.verb} ${describeSubject(request.subject)}: ${server} gave no answer within ${limitMs / 1000} s`;
  const before = last === undefined ? '' : `; the last attempt: ${last.message}`;
  return new Fault('TimedOut', what + before, { request: nameOf(request), maybeDone: request.method !== 'GET' }, last);
}
