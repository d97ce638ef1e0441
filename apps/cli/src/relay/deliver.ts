/**
 * What becomes of one request. Its documents end in their index, in the index of dead letters, or with whoever sent them:
 *
 * - the store takes a document, or has it (409): it is told so;
 * - a later attempt may cure it (busy, away, no rights, an index that cannot be made): it is told so, and tries again for as long as it takes;
 * - the store refuses the document: it becomes a dead letter, and *then* the sender is told that it is stored;
 * - the store refuses the request as a whole (413, 400): it is sent in halves, down to the one document that is to blame.
 *
 * Which of them it is: refusal.ts.
 *
 * Invariant: the sender hears of success only after everything is stored. It has the request on disk until then, so neither its death
 * nor ours loses anything: what comes again meets itself in the store. Nothing is remembered here between requests.
 */
import {
  type Answer,
  answerOf,
  type Bulk,
  bulkOf,
  type Item,
  itemsOf,
  type NamedItem,
  type Operation,
  operationsOf,
} from './bulk.ts';
import { cutLetter, type DeadLetter, deadLetter, indexOf, toOperation } from './dead-letter.ts';
import { type Blame, blameOf, CURABLE, type Refusal, refusalOf, wholeRefusalOf } from './refusal.ts';

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
  /** Told of documents for an index, that of dead letters too, that the store does not take now. */
  hold(index: string, refusal: Refusal, documents: number): void;
}

/** What a sender hears of a document that has to wait, where the store's own status would have it given up. */
const LATER = 503;

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
  const refusal = wholeRefusal(answer, bulk);
  const letter = deadLetter(only, refusal, bulk.path, relay.now());
  const { index } = letter.document.dead_letter;
  if (blameOf(toItem(refusal)) === 'store') {
    relay.hold(index, refusal, 1);
    return failed(LATER, `${refusal.status} ${refusal.type}`);
  }
  const letters = await keep([letter], bulk, relay);
  if ('wait' in letters) return unkept(letters.wait, 1, relay);
  const kept = letters.outcomes[0] === true;
  relay.tell(letter, kept ? 'kept' : 'lost');
  return answerOf([['create', { _index: index, status: kept ? 201 : answer.status }]]);
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
  const blames = items.map(([, item]) => blameOf(item));
  holdBack(
    items.flatMap(([, item], position) => (blames[position] === 'store' ? [item] : [])),
    bulk,
    relay,
  );
  const told: NamedItem[] = items.map(([action, item], position) =>
    blames[position] === 'store' && !CURABLE.includes(item.status)
      ? [action, { ...item, status: LATER }]
      : [action, item],
  );
  if (!blames.some(isRefusal)) return answerOf(told);
  const operations = await operationsOf(bulk);
  const now = relay.now();
  const refused = items.flatMap(([action, item], position) => {
    const operation = operations[position];
    if (!isRefusal(blames[position]) || operation === undefined) return [];
    return [{ action, item, position, letter: deadLetter(operation, refusalOf(item), bulk.path, now) }];
  });
  const letters = refused.map(({ letter }) => letter);
  const kept = await keep(letters, bulk, relay);
  if ('wait' in kept) return unkept(kept.wait, letters.length, relay);
  for (const [place, { action, item, position, letter }] of refused.entries()) {
    const isKept = kept.outcomes[place] === true;
    relay.tell(letter, isKept ? 'kept' : 'lost');
    // What is lost has its true status: the sender counts and logs it.
    if (isKept)
      told[position] = [action, { ...(item._index === undefined ? {} : { _index: item._index }), status: 201 }];
  }
  return answerOf(told);
}

function isRefusal(blame: Blame | undefined): boolean {
  return blame === 'document' || blame === 'unclear';
}

/** Tells, index by index, of what the store does not take now. */
function holdBack(held: readonly Item[], { path }: Bulk, relay: Relay): void {
  const kinds = Map.groupBy(held, (item) => `${item._index} ${item.status} ${item.error?.type}`);
  for (const [first, ...others] of kinds.values()) {
    if (first !== undefined) relay.hold(first._index ?? indexOf(path), refusalOf(first), 1 + others.length);
  }
}

/** For each dead letter whether it is there now, or why that has to wait. */
type Kept = { readonly outcomes: readonly boolean[] } | { readonly wait: Refusal };

/**
 * Stores dead letters. One whose own fault it is that it is refused is lost, or it would go round for ever: that takes an index of dead letters
 * with a mapping of somebody else. For any other reason all wait until it is mended.
 */
async function keep(letters: readonly DeadLetter[], { authorization }: Bulk, relay: Relay): Promise<Kept> {
  const operations = letters.map((letter) => toOperation(letter, relay.deadLetters));
  const to = { path: '/_bulk', ...(authorization === undefined ? {} : { authorization }) };
  const bulk = await bulkOf(operations, to);
  const answer = await relay.ask(bulk);
  if (answer.status === 413) return keepSmaller(letters, bulk, relay);
  const items = answer.status === 200 ? itemsOf(answer) : undefined;
  if (items === undefined || items.length !== letters.length) return { wait: wholeRefusal(answer, bulk) };
  const blames = items.map(([, item]) => blameOf(item));
  const waiting = items[blames.findIndex((blame) => blame === 'store' || blame === 'unclear')];
  return waiting === undefined
    ? { outcomes: blames.map((blame) => blame === 'nobody') }
    : { wait: refusalOf(waiting[1]) };
}

async function keepSmaller(letters: readonly DeadLetter[], bulk: Bulk, relay: Relay): Promise<Kept> {
  const [only] = letters;
  if (letters.length === 1 && only !== undefined)
    // What refuses even that refuses everything: nothing is wrong with the document.
    return only.document.dead_letter.cut
      ? { wait: wholeRefusal({ status: 413, body: '' }, bulk) }
      : keep([cutLetter(only)], bulk, relay);
  const middle = Math.ceil(letters.length / 2);
  const first = await keep(letters.slice(0, middle), bulk, relay);
  if ('wait' in first) return first;
  const second = await keep(letters.slice(middle), bulk, relay);
  return 'wait' in second ? second : { outcomes: [...first.outcomes, ...second.outcomes] };
}

/** Why a request of one document was refused; proxies say it in HTML. */
function wholeRefusal(answer: Answer, { body: { byteLength } }: Bulk): Refusal {
  const { status } = answer;
  if (status !== 413) return wholeRefusalOf(answer) ?? refusalOf({ status });
  const message = `its ${byteLength} bytes, as sent, are too many for the store or a proxy before it`;
  return wholeRefusalOf(answer) ?? { status, type: 'content_too_large', message };
}

function toItem({ status, type, message }: Refusal): Item {
  return { status, error: { type, reason: message } };
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

/** Everything waits, and the sender hears why: the account may have no right to the index of dead letters, which only a person can cure. */
function unkept(refusal: Refusal, documents: number, relay: Relay): Answer {
  relay.hold(relay.deadLetters, refusal, documents);
  const status = CURABLE.includes(refusal.status) ? refusal.status : LATER;
  // Who sent them logs this: no more than the type, which quotes nothing. The journal has the rest.
  const why = `${refusal.status} ${refusal.type}`;
  return failed(status, `documents were refused, and ${relay.deadLetters} does not take them as dead letters: ${why}`);
}
