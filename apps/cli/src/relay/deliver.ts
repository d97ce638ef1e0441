/**
 * What becomes of one request. Its documents end in their index, in the index of dead letters, or with whoever sent them:
 *
 * - the store takes a document, or has it (409): it is told so;
 * - a later attempt may cure it (busy, away, no rights, no index): it is told so, and tries again for as long as it takes;
 * - the store refuses the document: it becomes a dead letter, and *then* the sender is told that it is stored;
 * - the store refuses the request as a whole (413, 400): it is sent in halves, down to the one document that is to blame.
 *
 * Invariant: the sender hears of success only after everything is stored. It has the request on disk until then, so neither its death
 * nor ours loses anything: what comes again meets itself in the store. Nothing is remembered here between requests.
 */
import {
  type Answer,
  answerOf,
  type Bulk,
  bulkOf,
  itemsOf,
  type NamedItem,
  type Operation,
  operationsOf,
} from './bulk.ts';
import { cutLetter, type DeadLetter, deadLetter, type Refusal, refusalOf, toOperation } from './dead-letter.ts';

export interface Relay {
  /** The answer of the store, or 502 to 504 when there is none. */
  ask(bulk: Bulk): Promise<Answer>;
  /** Index of dead letters. */
  readonly deadLetters: string;
  readonly now: () => Date;
  /** Does it when what was given before is done: a request that is unpacked takes many times its size in memory. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Told of each document that was refused, once it is kept or lost. */
  tell(letter: DeadLetter, outcome: 'kept' | 'lost'): void;
}

/** What a later attempt may cure, of a document or a request; the exporter repeats these (telemetry/exporter.ts). */
const CURABLE: readonly number[] = [401, 403, 404, 408, 429, 500, 502, 503, 504];
const CONFLICT = 409;

/** Answers that tell of documents, or of a request that one of them is to blame for. */
const EXAMINED: readonly number[] = [200, 400, 413];
/** How the answer of a store begins that took everything, with the fields that we ask for. */
const ALL_TAKEN = '{"errors":false,"items":[';

export async function deliver(bulk: Bulk, relay: Relay): Promise<Answer> {
  const answer = await relay.ask(bulk);
  if (!EXAMINED.includes(answer.status)) return later(answer);
  // All is well, as it nearly always is: nothing of it need be looked at.
  if (answer.body.startsWith(ALL_TAKEN)) return answer;
  return relay.inTurn(() => examine(bulk, answer, relay));
}

async function examine(bulk: Bulk, answer: Answer, relay: Relay): Promise<Answer> {
  if (!EXAMINED.includes(answer.status)) return later(answer);
  if (answer.status === 200) return keepRefused(bulk, answer, relay);
  const operations = await operationsOf(bulk);
  const [only] = operations;
  if (only === undefined) return later(answer);
  if (operations.length > 1) return deliverHalves(operations, bulk, relay);
  const letter = deadLetter(only, wholeRefusal(answer, bulk), bulk.path, relay.now());
  const [kept] = (await keep([letter], bulk, relay)) ?? [];
  if (kept === undefined) return unkept;
  relay.tell(letter, kept ? 'kept' : 'lost');
  return answerOf([['create', { _index: letter.document.dead_letter.index, status: kept ? 201 : answer.status }]]);
}

/** Told that the first half failed, the sender repeats both: what is stored is there already. */
async function deliverHalves(operations: readonly Operation[], bulk: Bulk, relay: Relay): Promise<Answer> {
  const middle = Math.ceil(operations.length / 2);
  const items: NamedItem[] = [];
  for (const half of [operations.slice(0, middle), operations.slice(middle)]) {
    const part = await bulkOf(half, bulk);
    const answer = await examine(part, await relay.ask(part), relay);
    const told = answer.status === 200 ? itemsOf(answer) : undefined;
    if (told === undefined) return later(answer);
    items.push(...told);
  }
  return answerOf(items);
}

async function keepRefused(bulk: Bulk, answer: Answer, relay: Relay): Promise<Answer> {
  const items = itemsOf(answer);
  // A page to log in at, mostly.
  if (items === undefined) return failed(502, 'what answers is no store');
  if (!items.some(([, { status }]) => isRefused(status))) return answer;
  const operations = await operationsOf(bulk);
  const now = relay.now();
  const refused = items.flatMap(([action, item], position) => {
    const operation = operations[position];
    if (!isRefused(item.status) || operation === undefined) return [];
    return [{ action, item, position, letter: deadLetter(operation, refusalOf(item), bulk.path, now) }];
  });
  const letters = refused.map(({ letter }) => letter);
  const outcomes = await keep(letters, bulk, relay);
  if (outcomes === undefined) return unkept;
  const told = [...items];
  for (const [place, { action, item, position, letter }] of refused.entries()) {
    const kept = outcomes[place] === true;
    relay.tell(letter, kept ? 'kept' : 'lost');
    // What is lost has its true status: the sender counts and logs it.
    if (kept) told[position] = [action, { ...(item._index === undefined ? {} : { _index: item._index }), status: 201 }];
  }
  return answerOf(told);
}

/**
 * Stores dead letters. For each whether it is there now; undefined when that has to wait. One that is refused is lost, or it would go
 * round for ever: that takes an index of dead letters with a mapping of somebody else.
 */
async function keep(
  letters: readonly DeadLetter[],
  { authorization }: Bulk,
  relay: Relay,
): Promise<readonly boolean[] | undefined> {
  const operations = letters.map((letter) => toOperation(letter, relay.deadLetters));
  const to = { path: '/_bulk', ...(authorization === undefined ? {} : { authorization }) };
  const bulk = await bulkOf(operations, to);
  const answer = await relay.ask(bulk);
  if (answer.status === 413) return keepSmaller(letters, bulk, relay);
  const items = answer.status === 200 ? itemsOf(answer) : undefined;
  if (items === undefined || items.length !== letters.length) return undefined;
  if (items.some(([, { status }]) => CURABLE.includes(status))) return undefined;
  return items.map(([, { status }]) => !isRefused(status));
}

async function keepSmaller(
  letters: readonly DeadLetter[],
  bulk: Bulk,
  relay: Relay,
): Promise<readonly boolean[] | undefined> {
  const [only] = letters;
  if (letters.length === 1 && only !== undefined)
    // What refuses even that refuses everything: nothing is wrong with the document.
    return only.document.dead_letter.cut ? undefined : keep([cutLetter(only)], bulk, relay);
  const middle = Math.ceil(letters.length / 2);
  const first = await keep(letters.slice(0, middle), bulk, relay);
  const second = first === undefined ? undefined : await keep(letters.slice(middle), bulk, relay);
  return first === undefined || second === undefined ? undefined : [...first, ...second];
}

function isRefused(status: number): boolean {
  return status >= 300 && status !== CONFLICT && !CURABLE.includes(status);
}

/** Why a request of one document was refused; proxies say it in HTML. */
function wholeRefusal({ status, body }: Answer, { body: { byteLength } }: Bulk): Refusal {
  try {
    const { error } = JSON.parse(body) as { error?: { type?: string; reason?: string } };
    if (error?.type !== undefined) return refusalOf({ status, error });
  } catch {}
  return status === 413
    ? {
        status,
        type: 'content_too_large',
        message: `its ${byteLength} bytes, as sent, are too many for the store or a proxy before it`,
      }
    : refusalOf({ status });
}

/** An answer that the sender repeats after, whatever the store said: nothing but a document is ever given up. */
function later(answer: Answer): Answer {
  const { status } = answer;
  if (!CURABLE.includes(status)) return failed(503, `the store answered ${status}`);
  return isJson(answer.body) ? answer : failed(status, `what stands before the store answered ${status}`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** An answer of our own, in the words of a store. */
export function failed(status: number, reason: string): Answer {
  return { status, body: JSON.stringify({ error: { type: 'relay_exception', reason }, status }) };
}

const unkept = failed(503, 'documents were refused, and the index of dead letters does not take them now');
