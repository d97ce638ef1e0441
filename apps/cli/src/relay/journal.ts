/**
 * What the relay tells about itself: counters for Prometheus, and lines for people. A store may refuse thousands of documents a second:
 * each is counted, and of like ones there is a line at first and then one every half minute that says how many there were. No line
 * holds a document or a credential.
 */
import type { Answer } from './bulk.ts';
import type { DeadLetter } from './dead-letter.ts';

const REPEAT_MS = 30_000;
const LONGEST_REASON = 300;

type Outcome = 'kept' | 'lost';

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
  readonly #letters: Readonly<Record<Outcome, Map<string, Count>>> = { kept: new Map(), lost: new Map() };
  readonly #answers = new Map<number, number>();
  #trouble = '';

  constructor(write: (text: string) => void, now: () => Date) {
    this.#write = write;
    this.#now = now;
  }

  say({ level, message, ...details }: Line): void {
    this.#write(`${JSON.stringify({ level, time: this.#now().toISOString(), message, ...details })}\n`);
  }

  /** Of a document that was refused. */
  refused({ document: { dead_letter, error, http } }: DeadLetter, outcome: Outcome): void {
    const { index } = dead_letter;
    const labels = `index=${quoted(index)},error_type=${quoted(error.type)}`;
    const counts = this.#letters[outcome];
    const count = counts.get(labels) ?? { labels, total: 0, untold: 0, toldAt: Number.NEGATIVE_INFINITY };
    counts.set(labels, count);
    count.total += 1;
    count.untold += 1;
    const now = this.#now().getTime();
    if (now - count.toldAt < REPEAT_MS) return;
    this.say({
      level: outcome === 'kept' ? 'warn' : 'error',
      message: `the store refuses documents: they are ${outcome === 'kept' ? 'kept as dead letters' : 'lost, because the index of dead letters refuses them too'}`,
      index,
      documents: count.untold,
      status: http.response.status_code,
      type: error.type,
      reason: error.message.slice(0, LONGEST_REASON),
    });
    Object.assign(count, { untold: 0, toldAt: now });
  }

  /** Of how a request ended; a trouble is told when it begins, changes or ends. */
  answered({ status, body }: Answer): void {
    this.#answers.set(status, (this.#answers.get(status) ?? 0) + 1);
    const trouble = status === 200 ? '' : `${status} ${reasonOf(body)}`.trimEnd();
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    if (trouble === '') this.say({ level: 'info', message: 'the store takes requests again' });
    else this.say({ level: 'warn', message: 'the store takes no requests: they wait in the gateway', answer: trouble });
  }

  /** As Prometheus reads it. */
  figures(): string {
    return [
      ...counter(
        'keelson_relay_dead_letters_total',
        'Documents that the store refused and that are kept as dead letters.',
        [...this.#letters.kept.values()].map(({ labels, total }) => [labels, total] as const),
      ),
      ...counter(
        'keelson_relay_lost_documents_total',
        'Documents that both the store and the index of dead letters refused.',
        [...this.#letters.lost.values()].map(({ labels, total }) => [labels, total] as const),
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

/** The store's own words; of anything else that answers, nothing is passed on. */
function reasonOf(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { type?: string; reason?: string } };
    const told = [error?.type, error?.reason].filter((part) => typeof part === 'string');
    return told.join(': ').slice(0, LONGEST_REASON);
  } catch {
    return '';
  }
}
