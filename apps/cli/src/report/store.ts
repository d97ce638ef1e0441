/**
 * The search store that documents go to: Elasticsearch 7.17 or newer, or OpenSearch. Of their APIs only what all of them have
 * and an index privilege of `read`, `write`, `create_index` allows.
 *
 * Invariant: every request that is sent through here may be repeated without harm, so that 429, 5xx and broken connections
 * are: with back-off, and for as long as `attempts` last. No message holds a credential.
 */
import { backoffDelay, type Clock, Secret, systemClock } from '@keelson/kube';
import type { Pool } from 'undici';
import { type Failure, failure, isFailure } from '../failure.ts';
import { codeOf, pathPrefix, storePool } from '../store-pool.ts';
import type { Credential } from './credential.ts';

export interface StoreOptions {
  readonly url: URL;
  readonly credential?: Credential;
  /** PEM; the certificates of the machine when left out. */
  readonly ca?: string;
  readonly insecureSkipVerify?: boolean;
  readonly signal: AbortSignal;
  /** Told before each wait. */
  readonly onRetry: (why: string, waitMs: number) => void;
  readonly clock?: Clock;
}

export interface StoreRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the URL of the store: `/security-vuln/_bulk`. */
  readonly path: string;
  readonly json?: unknown;
  /** Instead of `json`: lines of JSON, as `_bulk` takes them. */
  readonly lines?: string;
}

export interface StoreAnswer {
  readonly status: number;
  readonly body: string;
}

/** Two minutes of trouble in all: a store that is restarted is back by then. */
export const attempts = 10;
const backoff = { initialMs: 500, maxMs: 30_000 };
const longestWaitMs = 60_000;

export class Store {
  readonly #pool: Pool;
  readonly #prefix: string;
  readonly #options: StoreOptions;
  readonly #clock: Clock;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#prefix = pathPrefix(options.url);
    this.#pool = storePool(options, { connections: 2, headersTimeout: 120_000, bodyTimeout: 120_000 });
  }

  /** The answer, whatever its status but one that asks to come again; a failure when the store cannot be reached or refuses us. */
  async send(request: StoreRequest): Promise<StoreAnswer> {
    for (let attempt = 0; ; attempt += 1) {
      const tried = await this.#try(request);
      if ('status' in tried) return tried;
      const { trouble, retryAfterMs } = tried;
      if (attempt + 1 >= attempts) {
        throw this.#failure('unreachable', `${trouble}; given up after ${attempts} attempts`, remedies.away);
      }
      await this.pause(attempt, trouble, retryAfterMs);
    }
  }

  /** Waits before the next attempt: longer each time, or as long as the store asks for. */
  async pause(attempt: number, why: string, retryAfterMs?: number): Promise<void> {
    const wait = Math.min(retryAfterMs ?? backoffDelay(attempt, backoff, this.#clock.random()), longestWaitMs);
    this.#options.onRetry(why, wait);
    await this.#clock.sleep(wait, this.#options.signal);
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #try(request: StoreRequest): Promise<StoreAnswer | { trouble: string; retryAfterMs?: number }> {
    const { credential, signal } = this.#options;
    const content = request.lines ?? (request.json === undefined ? undefined : JSON.stringify(request.json));
    try {
      const { statusCode, headers, body } = await this.#pool.request({
        method: request.method,
        path: `${this.#prefix}${request.path}`,
        headers: {
          accept: 'application/json',
          ...(credential === undefined ? {} : { authorization: credential.header.reveal() }),
          ...(content === undefined
            ? {}
            : { 'content-type': request.lines === undefined ? 'application/json' : 'application/x-ndjson' }),
        },
        signal,
        ...(content === undefined ? {} : { body: content }),
      });
      const answer = { status: statusCode, body: await body.text() };
      if (statusCode === 401 || statusCode === 403) throw this.#refused(answer);
      if (statusCode !== 429 && statusCode < 500) return answer;
      const seconds = Number(headers['retry-after']);
      return {
        trouble: `it answered ${this.told(answer)}`,
        ...(seconds > 0 ? { retryAfterMs: seconds * 1000 } : {}),
      };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (!(error instanceof Error) || isFailure(error)) throw error;
      const code = codeOf(error);
      if (isTlsTrouble(code)) throw this.#failure('unreachable', `its certificate is refused (${code})`, remedies.tls);
      return { trouble: `no answer (${code === '' ? error.message : code})` };
    }
  }

  #refused(answer: StoreAnswer): Failure {
    return answer.status === 401
      ? this.#failure('unreachable', `it refused the credentials: ${this.told(answer)}`, remedies.credentials)
      : this.#failure('forbidden', `the user lacks a privilege: ${this.told(answer)}`, remedies.privileges);
  }

  #failure(exit: 'unreachable' | 'forbidden' | 'failed', what: string, remedy?: string): Failure {
    return failure(exit, `the store at ${this.#options.url.origin}: ${what}`, remedy);
  }

  /** The failure for an answer that nobody expected. */
  unexpected(request: string, answer: StoreAnswer): Failure {
    return this.#failure('failed', `${request} was answered ${this.told(answer)}`);
  }

  /** `503 cluster_block_exception: index is read-only`; never with a credential in it. */
  told({ status, body }: StoreAnswer): string {
    const reason = reasonOf(body);
    return this.redact(reason === '' ? String(status) : `${status} ${reason}`);
  }

  /** A text of the store without our credentials, should it repeat them, and not longer than a person reads. */
  redact(text: string): string {
    const bare = (this.#options.credential?.parts ?? []).reduce(
      (left, part) => left.replaceAll(part.reveal(), String(new Secret(''))),
      text,
    );
    return bare.length > 300 ? `${bare.slice(0, 300)}…` : bare;
  }
}

const remedies = {
  away: 'is it running and is --url right? the next run stores what this one could not',
  tls: 'name the certificates to trust with --ca-file; --insecure-skip-verify trusts any, for trials',
  credentials: 'set ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD, or ELASTICSEARCH_API_KEY, to valid ones',
  privileges: 'give that user the privileges read, write and create_index on the index',
} as const;

/** What the store says is wrong; the body itself where something else answers, such as a proxy. */
function reasonOf(body: string): string {
  const text = body.trim().replace(/\s+/g, ' ');
  try {
    const { error } = JSON.parse(body) as { error?: { type?: string; reason?: string } | string };
    if (typeof error === 'string') return error;
    return error === undefined ? text : [error.type, error.reason].filter((part) => part !== undefined).join(': ');
  } catch {
    return text;
  }
}

/** No second attempt makes a certificate valid. */
function isTlsTrouble(code: string): boolean {
  return /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)|ERR_TLS|ERR_SSL|EPROTO|INVALID_CA)/.test(code);
}
