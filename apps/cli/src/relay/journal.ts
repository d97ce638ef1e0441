/**
 * What the relay tells about itself: counters for Prometheus, and lines for people. A store may refuse thousands of documents a second:
 * each is counted, and of like ones there is a line at first and then one every half minute that says how many there were.
 *
 * Invariant: no line holds a credential or anything out of a document. Stores quote what they refuse, so of a document that is to blame a line has
 * the type of the error and the name of the field; the whole reason is in its dead letter. What a store says of itself is told up to the first quote.
 */
import type { Answer } from './bulk.ts';
import type { DeadLetter } from './dead-letter.ts';
import { blameOf, fieldOf, type Refusal } from './refusal.ts';

const REPEAT_MS = 30_000;
const LONGEST_REASON = 300;
const FAILED = 'the relay could not work on a request: it waits in the gateway';

/** What becomes of a document that the store does not take: it is a dead letter, it is nowhere, or it waits in the gateway. */
type Outcome = 'kept' | 'lost' | 'held';

const outcomes: Readonly<Record<Outcome, { level: Line['level']; message: string; metric: string; help: string }>> = {
  kept: {
    level: 'warn',
    message: 'the store refuses documents: they are kept as dead letters',
    metric: 'keelson_relay_dead_letters_total',
    help: 'Documents that the store refused and that are kept as dead letters.',
  },
  lost: {
    level: 'error',
    message: 'the store refuses documents: they are lost, because the index of dead letters refuses them too',
    metric: 'keelson_relay_lost_documents_total',
    help: 'Documents that both the store and the index of dead letters refused.',
  },
  held: {
    level: 'warn',
    message: 'the store takes no documents for this index now: they wait in the gateway',
    metric: 'keelson_relay_held_documents_total',
    help: 'Documents that the store did not take for a reason of its own: they wait in the gateway. Each attempt counts.',
  },
};

interface Line {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly [detail: string]: unknown;
}

interface Count {
  readonly labels: string;
  total: number;
  /** Since the last line. */
  untold: number;
  toldAt: number;
}

export class Journal {
  readonly #write: (text: string) => void;
  readonly #now: () => Date;
  readonly #documents: Readonly<Record<Outcome, Map<string, Count>>> = {
    kept: new Map(),
    lost: new Map(),
    held: new Map(),
  };
  readonly #answers = new Map<number, number>();
  /** When each was told. */
  readonly #failures = new Map<string, number>();
  #trouble = '';

  constructor(write: (text: string) => void, now: () => Date) {
    this.#write = write;
    this.#now = now;
  }

  say({ level, message, ...details }: Line): void {
    this.#write(`${JSON.stringify({ level, time: this.#now().toISOString(), message, ...details })}\n`);
  }

  /** Of a document that was refused. */
  refused({ document: { dead_letter, error, http } }: DeadLetter, outcome: 'kept' | 'lost'): void {
    this.#count(dead_letter.index, { ...error, status: http.response.status_code }, outcome, 1);
  }

  /** Of documents for an index that have to wait. */
  held(index: string, refusal: Refusal, documents: number): void {
    this.#count(index, refusal, 'held', documents);
  }

  #count(index: string, refusal: Refusal, outcome: Outcome, documents: number): void {
    const { status, type } = refusal;
    const labels = `index=${quoted(index)},error_type=${quoted(type)}`;
    const counts = this.#documents[outcome];
    const count = counts.get(labels) ?? { labels, total: 0, untold: 0, toldAt: Number.NEGATIVE_INFINITY };
    counts.set(labels, count);
    count.total += documents;
    count.untold += documents;
    const now = this.#now().getTime();
    if (now - count.toldAt < REPEAT_MS) return;
    const { level, message } = outcomes[outcome];
    this.say({
      level,
      message,
      index,
      documents: count.untold,
      status,
      type,
      ...detailOf(refusal),
    });
    Object.assign(count, { untold: 0, toldAt: now });
  }

  /** Of a request that we could not work on; of like ones there is a line every half minute. */
  failed(error: unknown): void {
    this.#countAnswer(500);
    const { name, message, stack = '' } = error instanceof Error ? error : new Error(String(error));
    const told = `${name}: ${unquoted(message)}`;
    const now = this.#now().getTime();
    if (now - (this.#failures.get(told) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
    this.#failures.set(told, now);
    const [, at] = /^\s+at (.*)$/m.exec(stack) ?? [];
    this.say({ level: 'error', message: FAILED, error: told, ...(at === undefined ? {} : { at }) });
  }

  /** Of a request that is not for the store. */
  declined({ status }: Answer): void {
    this.#countAnswer(status);
  }

  /** Of how a request ended; a trouble is told when it begins, changes or ends. */
  answered({ status, body }: Answer): void {
    this.#countAnswer(status);
    const trouble = status === 200 ? '' : `${status} ${reasonOf(body)}`.trimEnd();
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    if (trouble === '') this.say({ level: 'info', message: 'the store takes requests again' });
    else this.say({ level: 'warn', message: 'the store takes no requests: they wait in the gateway', answer: trouble });
  }

  #countAnswer(status: number): void {
    this.#answers.set(status, (this.#answers.get(status) ?? 0) + 1);
  }

  /** As Prometheus reads it. */
  figures(): string {
    return [
      ...Object.entries(outcomes).flatMap(([outcome, { metric, help }]) =>
        counter(
          metric,
          help,
          [...this.#documents[outcome as Outcome].values()].map(({ labels, total }) => [labels, total] as const),
        ),
      ),
      ...counter(
        'keelson_relay_requests_total',
        'Requests of the gateway, by the status that they were answered with.',
        [...this.#answers].map(([status, total]) => [`code="${status}"`, total] as const),
      ),
      '',
    ].join('\n');
  }
}

function counter(name: string, help: string, values: readonly (readonly [labels: string, total: number])[]): string[] {
  const lines = values.map(([labels, total]) => `${name}{${labels}} ${total}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} counter`, ...lines];
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

/** Of a refusal, what may be read by everybody who reads logs. */
function detailOf(refusal: Refusal): { readonly reason?: string; readonly field?: string } {
  const { status, type, message } = refusal;
  if (blameOf({ status, error: { type, reason: message } }) === 'store') return { reason: unquoted(message) };
  const field = fieldOf(refusal);
  return field === undefined ? {} : { field };
}

function unquoted(text: string): string {
  return text.replace(/["'`].*$/s, '…').slice(0, LONGEST_REASON);
}

/** The store's own words; of anything else that answers, nothing is passed on. */
function reasonOf(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { type?: string; reason?: string } };
    const told = [error?.type, error?.reason].filter((part) => typeof part === 'string');
    return unquoted(told.join(': '));
  } catch {
    return '';
  }
}
