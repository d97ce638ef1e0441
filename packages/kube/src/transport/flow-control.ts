/**
 * How many calls may be under way at once: found out, not configured. The limit grows by one for every round or two of
 * calls that went well, halves when the server turns a call away (429, 503 with Retry-After), and shrinks a little when it fails or
 * becomes slow compared with its own best. A server that copes is soon not held back by us; one that does not is relieved
 * within one round trip.
 *
 * Invariant: calls that wait are served in turns between flows (a flow is a kind of object), first come first served within a
 * flow, so a storm on one kind does not delay the others. Watches are not counted. Urgent calls (lease renewal) do not wait.
 */
import type { Clock } from '../clock.ts';

export interface FlowControlOptions {
  /** Calls at once to begin with. */
  initial?: number;
  min?: number;
  max?: number;
}

/** How a call ended, as far as the server's load goes. */
export type Load =
  | { readonly ended: 'well'; readonly latencyMs: number; readonly sort: 'read' | 'list' | 'write' }
  | { readonly ended: 'turned-away' | 'failed' | 'unknown' };

export interface Permit {
  readonly waitedMs: number;
  /** Gives the place to the next one. To be called once. */
  release(load: Load): void;
}

interface Waiter {
  readonly since: number;
  admit(): void;
}

interface Latency {
  /** Moves up slowly, down at once: what the server can do when it is not busy. */
  best: number;
  /** Of the last handful of calls. */
  recent: number;
}

const slowFactor = 5;
const slowFloorMs = 250;
// Slowness may be of another cause than load (a new webhook), and then fewer calls at once make it only worse.
const slowLimit = 8;

export class FlowControl {
  readonly #clock: Clock;
  readonly #min: number;
  readonly #max: number;
  #limit: number;
  #underWay = 0;
  #waiting = 0;
  /** Calls are numbered; those begun before the last drop say nothing new. */
  #begun = 0;
  #droppedAt = 0;
  readonly #flows = new Map<string, Set<Waiter>>();
  readonly #latencies = new Map<string, Latency>();

  constructor(clock: Clock, options: FlowControlOptions = {}) {
    this.#clock = clock;
    this.#min = options.min ?? 2;
    this.#max = options.max ?? 256;
    this.#limit = Math.min(this.#max, Math.max(this.#min, options.initial ?? 32));
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }

  get underWay(): number {
    return this.#underWay;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** A place for one call; rejects with the signal's reason when it is aborted while waiting. */
  acquire(flow: string, urgent: boolean, signal?: AbortSignal): Promise<Permit> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (urgent || (this.#waiting === 0 && this.#underWay < this.limit)) return Promise.resolve(this.#permit(0));
    return new Promise((resolve, reject) => {
      const queue = this.#flows.get(flow) ?? new Set<Waiter>();
      this.#flows.set(flow, queue);
      const aborted = () => {
        queue.delete(waiter);
        this.#waiting -= 1;
        if (queue.size === 0 && this.#flows.get(flow) === queue) this.#flows.delete(flow);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        since: this.#clock.monotonic(),
        admit: () => {
          signal?.removeEventListener('abort', aborted);
          resolve(this.#permit(this.#clock.monotonic() - waiter.since));
        },
      };
      queue.add(waiter);
      this.#waiting += 1;
      signal?.addEventListener('abort', aborted, { once: true });
    });
  }

  #permit(waitedMs: number): Permit {
    this.#underWay += 1;
    this.#begun += 1;
    const number = this.#begun;
    return {
      waitedMs,
      release: (load) => {
        this.#learn(number, load);
        this.#underWay -= 1;
        this.#admitWaiting();
      },
    };
  }

  #admitWaiting(): void {
    while (this.#waiting > 0 && this.#underWay < this.limit) {
      const [next] = this.#flows;
      if (next === undefined) return;
      const [flow, queue] = next;
      const [waiter] = queue;
      // Back to the end of the line, so that every flow gets its turn.
      this.#flows.delete(flow);
      if (waiter === undefined) continue;
      queue.delete(waiter);
      if (queue.size > 0) this.#flows.set(flow, queue);
      this.#waiting -= 1;
      waiter.admit();
    }
  }

  #learn(number: number, load: Load): void {
    switch (load.ended) {
      case 'turned-away':
        this.#drop(number, 0.5);
        break;
      case 'failed':
        this.#drop(number, 0.8);
        break;
      case 'unknown':
        break;
      case 'well':
        if (this.#isSlow(load.sort, load.latencyMs)) this.#drop(number, 0.9, slowLimit);
        else if (this.#underWay >= this.limit / 2) this.#grow();
    }
  }

  #drop(number: number, factor: number, floor = this.#min): void {
    if (number <= this.#droppedAt || this.#limit <= floor) return;
    this.#droppedAt = this.#begun;
    this.#limit = Math.max(floor, this.#limit * factor);
  }

  #grow(): void {
    this.#limit = Math.min(this.#max, this.#limit + 1 / this.#limit);
  }

  #isSlow(sort: string, latencyMs: number): boolean {
    const latency = this.#latencies.get(sort) ?? { best: latencyMs, recent: latencyMs };
    this.#latencies.set(sort, latency);
    latency.best = latencyMs < latency.best ? latencyMs : latency.best + (latencyMs - latency.best) * 0.01;
    latency.recent += (latencyMs - latency.recent) * 0.2;
    return latency.recent > slowFloorMs && latency.recent > slowFactor * latency.best;
  }
}
