/**
 * Rules: which requests go wrong, how often, and in which way.
 *
 * A rule counts by itself: of the requests that match it lets `after` pass, then strikes at most `times`, each time with
 * `probability`. Rules are asked in the order in which they were made, and all that strike apply.
 */
import { type Exchange, type ExchangeMatch, matches } from './exchange.ts';

/** One event of a watch stream. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: Readonly<Record<string, unknown>>;
}

/** Picks events of a watch; `index` counts from 1 within one stream. */
export type EventChoice = (event: WatchEvent, index: number) => boolean;

/** What goes wrong. */
export type FaultAction =
  /** The request reaches the API server so much later. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The proxy answers with an error Status and the API server never sees the request. */
  | {
      readonly kind: 'answer';
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** The connection is reset, before the API server sees the request or (`response`) after it has done what was asked. */
  | { readonly kind: 'reset'; readonly at?: 'request' | 'response' }
  /** The request, or (`response`) its answer, waits until `release()` of the rule. */
  | { readonly kind: 'hold'; readonly at?: 'request' | 'response' }
  /** The answer ends early: by time or by number of watch events, in the middle of an event if so asked. */
  | {
      readonly kind: 'cut';
      readonly afterMs?: number;
      readonly afterEvents?: number;
      readonly halfEvent?: boolean;
      /** `clean` ends the body properly, as the API server does at its own time-out; `abrupt` is the default. */
      readonly how?: 'abrupt' | 'clean';
    }
  /** A watch stays open and says nothing more after so many events. */
  | { readonly kind: 'stall'; readonly afterEvents?: number }
  /** A watch sends an ERROR event with code 410 after so many events, and ends. */
  | { readonly kind: 'gone'; readonly afterEvents?: number }
  /** Watch events are left out: all, or those that are chosen. */
  | { readonly kind: 'drop'; readonly events?: EventChoice }
  /** Watch events are sent twice: all, or those that are chosen. */
  | { readonly kind: 'duplicate'; readonly events?: EventChoice };

/** A rule to add. */
export interface FaultRule {
  readonly match?: ExchangeMatch;
  /** Let this many matching requests pass first. */
  readonly after?: number;
  /** Strike at most this often; without it, always. */
  readonly times?: number;
  /** Strike with this probability, 0 to 1; without it, always. */
  readonly probability?: number;
  readonly fault: FaultAction;
}

/** A rule at work. */
export interface RuleHandle extends Disposable {
  /** How often it has struck. */
  readonly hits: number;
  /** Resolves when it has struck so often. */
  hit(count?: number): Promise<void>;
  /** Lets go on what a `hold` keeps waiting, and all that it would hold from now on. */
  release(): void;
  /** Takes the rule away and releases what it holds. */
  remove(): void;
}

/** A fault that struck one exchange, with the gate at which a `hold` waits. */
export interface Strike {
  readonly fault: FaultAction;
  readonly released: Promise<void>;
}

/** The rules of one proxy. */
export class RuleBook {
  readonly #rules = new Set<ActiveRule>();
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Adds a rule behind the others. */
  add(rule: FaultRule): RuleHandle {
    const active = new ActiveRule(rule, () => this.#rules.delete(active));
    this.#rules.add(active);
    return active;
  }

  /** Takes every rule away. */
  clear(): void {
    for (const rule of this.#rules) rule.remove();
  }

  /** Gives the faults that strike this exchange, in the order of the rules. */
  strike(exchange: Exchange): Strike[] {
    const strikes: Strike[] = [];
    for (const rule of this.#rules) {
      if (rule.strikes(exchange, this.#random)) strikes.push({ fault: rule.fault, released: rule.released });
    }
    return strikes;
  }
}

class ActiveRule implements RuleHandle {
  readonly fault: FaultAction;
  readonly released: Promise<void>;
  readonly #rule: FaultRule;
  readonly #forget: () => void;
  readonly #open: () => void;
  readonly #waiters = new Set<() => void>();
  #seen = 0;
  #hits = 0;

  constructor(rule: FaultRule, forget: () => void) {
    const gate = Promise.withResolvers<void>();
    this.fault = rule.fault;
    this.released = gate.promise;
    this.#rule = rule;
    this.#forget = forget;
    this.#open = gate.resolve;
  }

  get hits(): number {
    return this.#hits;
  }

  strikes(exchange: Exchange, random: () => number): boolean {
    const { match = {}, after = 0, times = Number.POSITIVE_INFINITY, probability = 1 } = this.#rule;
    if (!matches(exchange, match)) return false;
    this.#seen += 1;
    if (this.#seen <= after || this.#hits >= times) return false;
    if (probability < 1 && random() >= probability) return false;
    this.#hits += 1;
    for (const waiter of this.#waiters) waiter();
    return true;
  }

  async hit(count = 1): Promise<void> {
    if (this.#hits >= count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter = () => this.#hits >= count && resolve();
    this.#waiters.add(waiter);
    await promise;
    this.#waiters.delete(waiter);
  }

  release(): void {
    this.#open();
  }

  remove(): void {
    this.#open();
    this.#forget();
  }

  [Symbol.dispose](): void {
    this.remove();
  }
}
