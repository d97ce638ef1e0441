/**
 * The environment's own way to the API server: one JSON request at a time, as cluster administrator.
 *
 * It is for arranging and asserting in tests. Code under test must use a client and a user of its own, or RBAC and the
 * audit log would show the wrong identity.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { KeyPair } from './pki.ts';

/** The few fields that every Kubernetes object has. */
export interface ApiObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** An answer of the API server with a code of 400 or more. */
export interface ApiError extends Error {
  readonly code: number;
  /** The machine-readable reason of the Status body, e.g. "NotFound". */
  readonly reason: string;
  readonly body: unknown;
}

/** What the admin request can vary. */
export interface AdminRequestOptions {
  /** Defaults to JSON, and to a merge patch for PATCH. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Sends requests with the administrator's certificate. */
export class AdminClient {
  readonly #origin: string;
  readonly #agent: Agent;

  constructor(origin: string, authority: string, identity: KeyPair) {
    this.#origin = origin;
    this.#agent = new Agent({ connect: { ca: authority, cert: identity.certificate, key: identity.key } });
  }

  /**
   * Sends one request and gives the decoded body; rejects with an `ApiError` from code 400 on. It asks again on 429,
   * which a freshly started API server gives while it fills its caches.
   */
  async request(method: string, path: string, body?: unknown, options: AdminRequestOptions = {}): Promise<unknown> {
    const deadline = Date.now() + 10_000;
    for (;;) {
      try {
        return await this.#send(method, path, body, options);
      } catch (error) {
        if (!isApiError(error, 429) || Date.now() > deadline) throw error;
        await sleep(100);
      }
    }
  }

  async #send(method: string, path: string, body: unknown, options: AdminRequestOptions): Promise<unknown> {
    const contentType =
      options.contentType ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const response = await request(new URL(path, this.#origin), {
      method: method as 'GET',
      dispatcher: this.#agent,
      headers: { accept: 'application/json', 'content-type': contentType, 'user-agent': 'testenv', ...options.headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(options.signal && { signal: options.signal }),
    });
    const text = await response.body.text();
    const decoded = decode(text);
    if (response.statusCode >= 400) throw apiError(method, path, response.statusCode, decoded);
    return decoded;
  }

  /** Whether a path answers with 200; no answer counts as no. */
  async answers(path: string): Promise<boolean> {
    const signal = AbortSignal.timeout(2000);
    return this.request('GET', path, undefined, { signal }).then(
      () => true,
      () => false,
    );
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** Says whether an error is an answer of the API server, and with which code if one is given. */
export function isApiError(error: unknown, code?: number): error is ApiError {
  return (
    error instanceof Error && error.name === 'ApiError' && (code === undefined || (error as ApiError).code === code)
  );
}

function apiError(method: string, path: string, code: number, body: unknown): ApiError {
  const status = (typeof body === 'object' && body !== null ? body : {}) as { message?: string; reason?: string };
  const message = status.message ?? String(body);
  const error = new Error(`${method} ${path} was answered with ${code}: ${message}`);
  return Object.assign(error, { name: 'ApiError', code, reason: status.reason ?? '', body });
}

function decode(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Health endpoints and some proxies answer in plain text.
    return text;
  }
}
