/**
 * One HTTP exchange: a request, the head of its answer, and its body as chunks that are pulled.
 *
 * Invariant: every failure says whether the request had left this machine (`sent`), because only that decides what may be
 * repeated safely. A reader that does not pull stops the sender (back pressure); it never loses a byte. The guard is asked when a
 * connection is there and the request is about to be written to it, so that no waiting lies between its answer and the wire.
 */
import type { Dispatcher } from 'undici';

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  /** A header with several values is sent once for each. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface ExchangeOptions {
  readonly signal?: AbortSignal | undefined;
  /** Throws when the request must not be sent any more. */
  readonly guard?: (() => void) | undefined;
}

/** A connection that failed, and whether the server can have seen the request. */
export class ExchangeLost extends Error {
  readonly sent: boolean;

  constructor(sent: boolean, cause: unknown) {
    super('exchange lost', { cause });
    this.sent = sent;
  }
}

const pauseAboveBytes = 1 << 20;

export class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #head: AnswerHead | undefined;
  #chunks: Buffer[] = [];
  #buffered = 0;
  #ended = false;
  #failure: { error: unknown } | undefined;
  #sent = false;
  #wake: (() => void) | undefined;
  #lastByteAt = performance.now();
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.cancel(this.#signal?.reason);

  readonly #guard: (() => void) | undefined;

  constructor(dispatcher: Dispatcher, origin: string, request: HttpRequest, { signal, guard }: ExchangeOptions) {
    this.#signal = signal;
    this.#guard = guard;
    if (signal?.aborted === true) {
      this.#failure = { error: signal.reason };
      return;
    }
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    try {
      dispatcher.dispatch(
        {
          origin,
          method: request.method,
          path: request.path,
          headers: request.headers as Record<string, string | string[]>,
          body: request.body ?? null,
          // Time is limited by the caller's signal alone, which knows how long the whole may take.
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        this,
      );
    } catch (error) {
      this.#fail(new ExchangeLost(false, error));
    }
  }

  /** Milliseconds since the last byte (by a clock that nobody sets), none while we ourselves hold the stream up. */
  get idleMs(): number {
    return this.#controller?.paused === true ? 0 : performance.now() - this.#lastByteAt;
  }

  async head(): Promise<AnswerHead> {
    while (this.#head === undefined) {
      if (this.#failure !== undefined) throw this.#failure.error;
      await this.#changed();
    }
    return this.#head;
  }

  /** The next chunk, or undefined at the end of the body. Chunks that arrived before a failure are handed out first. */
  async read(): Promise<Buffer | undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#buffered -= chunk.length;
        if (this.#buffered <= pauseAboveBytes / 2 && this.#controller?.paused === true) {
          this.#lastByteAt = performance.now();
          this.#controller.resume();
        }
        return chunk;
      }
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#ended) return undefined;
      await this.#changed();
    }
  }

  async readAll(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for (let chunk = await this.read(); chunk !== undefined; chunk = await this.read()) chunks.push(chunk);
    const [first] = chunks;
    return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  }

  /** Ends the exchange and its connection; what waits for it is rejected with this reason. */
  cancel(reason: unknown): void {
    if (this.#ended || this.#failure !== undefined) return;
    this.#fail(reason);
    this.#controller?.abort(reason instanceof Error ? reason : new Error('cancelled', { cause: reason }));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#failure !== undefined) {
      controller.abort(new Error('cancelled before it was sent'));
      return;
    }
    try {
      this.#guard?.();
    } catch (error) {
      this.#fail(error);
      controller.abort(new Error('forbidden before it was sent'));
      return;
    }
    this.#controller = controller;
    this.#sent = true;
    this.#lastByteAt = performance.now();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: AnswerHead['headers']): void {
    // 1xx is an announcement, not the answer.
    if (status < 200) return;
    this.#head = { status, headers };
    this.#lastByteAt = performance.now();
    this.#notify();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#lastByteAt = performance.now();
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    if (this.#buffered > pauseAboveBytes) controller.pause();
    this.#notify();
  }

  onResponseEnd(): void {
    this.#ended = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#notify();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(new ExchangeLost(this.#sent, error));
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#notify();
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
