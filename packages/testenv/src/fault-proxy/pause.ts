import { type Exchange, type ExchangeMatch, matches } from './exchange.ts';

/** A stop of the world after a number of writes. */
export interface WritePause extends Disposable {
  /** How many writes came in so far, held ones included. */
  readonly writes: number;
  /** Resolves with the writes that passed, when all of them have been done by the API server. */
  readonly reached: Promise<readonly Exchange[]>;
  /** Lets everything go on. */
  release(): void;
}

/**
 * Lets exactly `count` matching writes through to the API server and holds every one after them.
 *
 * Writes are numbered as they come in, so of two that are under way at once exactly one may be the last. The answers of
 * the last write, and of those that are answered later, are held as well: the client stands still with the write done.
 */
export class WriteGate implements WritePause {
  readonly reached: Promise<readonly Exchange[]>;
  readonly #count: number;
  readonly #match: ExchangeMatch;
  readonly #passed: Exchange[] = [];
  readonly #released = Promise.withResolvers<void>();
  readonly #reached = Promise.withResolvers<readonly Exchange[]>();
  #writes = 0;
  #done = 0;
  #isOpen = false;

  constructor(count: number, match: ExchangeMatch) {
    this.#count = count;
    this.#match = match;
    this.reached = this.#reached.promise;
  }

  get writes(): number {
    return this.#writes;
  }

  /** Resolves at the release. */
  get released(): Promise<void> {
    return this.#released.promise;
  }

  /** To be awaited before a request goes to the API server. */
  async beforeRequest(exchange: Exchange): Promise<void> {
    if (this.#isOpen || !exchange.write || !matches(exchange, this.#match)) return;
    this.#writes += 1;
    if (this.#writes <= this.#count) {
      this.#passed.push(exchange);
      return;
    }
    // With a count of 0 there is no last write to wait for: the first held one is the moment.
    if (this.#count === 0) this.#reached.resolve([]);
    await this.#released.promise;
  }

  /** To be awaited before an answer goes to the client. */
  async beforeResponse(exchange: Exchange): Promise<void> {
    if (this.#isOpen || !this.#passed.includes(exchange)) return;
    this.#done += 1;
    if (this.#done < this.#count) return;
    this.#reached.resolve(this.#passed);
    await this.#released.promise;
  }

  release(): void {
    this.#isOpen = true;
    this.#released.resolve();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
