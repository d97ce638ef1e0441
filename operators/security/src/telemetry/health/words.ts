/** What is said of a link that holds events up: who, to whom, why, what to do, and how many wait. */
import { enumerate } from '../../assess/text.ts';
import { GATEWAY } from '../../names.ts';
import type { Store } from '../../store.ts';
import type { Role } from './collectors.ts';
import { isSuccess } from './follow.ts';
import type { Findings } from './judge.ts';
import type { Link } from './link.ts';
import type { Refused } from './refusals.ts';

/** Of many nodes, pods, indices or errors. */
const SHOWN = 3;
/** What a relay says of a store that does not answer. */
const NO_ANSWER: readonly string[] = ['502', '504'];

export interface Trouble {
  readonly reason: string;
  /** Without figures. */
  readonly text: string;
}

/** Why nothing gets through. */
export function troubleOf(role: Role, findings: Findings, store: Store): Trouble {
  const { links, isGatewayUp } = findings;
  return role === 'gateway' ? toStore(findings, store) : toGateway(links.node, isGatewayUp);
}

function toGateway({ places, answer }: Link, isGatewayUp: boolean): Trouble {
  const who = places.length === 0 ? 'the collectors on nodes' : `the collectors on ${enumerate(places, SHOWN)}`;
  return {
    reason: 'GatewayNotReached',
    text: `${who} cannot hand events over to ${GATEWAY}: ${gatewayWhy(answer, isGatewayUp)}`,
  };
}

function gatewayWhy(answer: string | undefined, isGatewayUp: boolean): string {
  if (answer === 'RESOURCE_EXHAUSTED') return 'gateways have no room for more';
  if (answer === 'DEADLINE_EXCEEDED') return 'gateways do not answer in time';
  if (answer !== undefined && isSuccess(answer)) return 'gateways answer, and take nothing: their log says why';
  if (answer !== undefined && answer !== 'UNAVAILABLE') return `gateways answer ${answer}`;
  return isGatewayUp
    ? 'no connection, although gateways run: check network policies, DNS, and the log of a collector for certificates'
    : 'no gateway answers';
}

function toStore({ links: { gateway }, refusals, isRelayed }: Findings, store: Store): Trouble {
  const { places, queues, answer } = gateway;
  const who = places.length === 0 ? 'gateways' : `gateway ${enumerate(places, SHOWN)}`;
  const indices = enumerate(queues.map((queue) => indexOf(queue, store)));
  const { origin } = new URL(store.url);
  const cannot = `${who} cannot write ${indices} to ${origin}`;
  const held = refusals.filter(({ outcome }) => outcome === 'held');
  // Of a store that does not answer at all, what it said before explains nothing.
  if (held.length > 0 && answer !== undefined && !NO_ANSWER.includes(answer)) {
    const { reason, text } = heldWhy(held, store);
    return { reason, text: `${cannot}: ${text}` };
  }
  if (answer === undefined && isRelayed)
    return { reason: 'RelayNotReached', text: `${cannot}: the relay beside them does not answer, its log says why` };
  return {
    reason: answer === undefined || /^5/.test(answer) ? 'StoreNotReached' : 'StoreRefuses',
    text: `${cannot}: ${storeWhy(answer, store)}`,
  };
}

/** Why the store, which answers, has documents wait. */
function heldWhy(held: readonly Refused[], { indices: { deadLetters } }: Store): Trouble {
  const letters = held.filter(({ index }) => index === deadLetters);
  const isLetters = letters.length > 0;
  const concerned = isLetters ? letters : held;
  const types = typesOf(concerned);
  const remedy = types.flatMap((type) => remedies[type] ?? [])[0] ?? 'the log of the relay says why';
  const what = isLetters
    ? `it refuses documents, and ${deadLetters} does not take them as dead letters`
    : `it takes nothing for ${indicesOf(concerned)} now`;
  return {
    reason: isLetters ? 'DeadLettersRefused' : 'StoreRefuses',
    text: `${what} (${enumerate(types, SHOWN)}): ${remedy}`,
  };
}

const remedies: Readonly<Record<string, string>> = {
  validation_exception: 'is the cluster at its limit of shards?',
  security_exception: 'its account may not write there, see "the account in the store" in the guide',
  index_closed_exception: 'open the index',
  cluster_block_exception: 'something blocks writing: is the disk of the store full?',
  es_rejected_execution_exception: 'it is busier than it can be',
  rejected_execution_exception: 'it is busier than it can be',
};

/** What is refused for good, or undefined: of documents that are lost, else of those that are kept. */
export function refusalText({ refusals }: Findings, { indices: { deadLetters } }: Store): string | undefined {
  const of = (outcome: Refused['outcome']) => refusals.filter((refused) => refused.outcome === outcome);
  const [lost, kept] = [of('lost'), of('kept')];
  const told = (refused: readonly Refused[]) =>
    `documents for ${indicesOf(refused)} are refused (${enumerate(typesOf(refused), SHOWN)})`;
  if (lost.length > 0)
    return `${told(lost)} and lost, because ${deadLetters} refuses them too: delete it, and its template makes it anew`;
  return kept.length === 0 ? undefined : `${told(kept)} and kept in ${deadLetters}, where error.message says why`;
}

function indicesOf(refused: readonly Refused[]): string {
  return enumerate(distinct(refused.map(({ index }) => index)), SHOWN);
}

function typesOf(refused: readonly Refused[]): readonly string[] {
  return distinct(refused.map(({ type }) => type));
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

function storeWhy(answer: string | undefined, { path, auth }: Store): string {
  switch (answer) {
    case undefined:
    // Of the relay beside the gateway, which has none.
    case '502':
    case '504':
      return `no answer: check its address, network policies, and its certificate (${path}.tls)`;
    case '401':
      return auth === undefined
        ? `401, it wants credentials: set ${path}.auth`
        : `401: check the credentials of ${path}.auth`;
    case '403':
      return '403: its account may not write there, see "the account in the store" in the guide';
    case '404':
      return `404: check ${path}.url`;
    case '429':
      return '429: it is busier than it can be';
    default:
      if (isSuccess(answer)) return 'it answers, and takes no document: the log of the gateways says why';
      return `it answers ${answer}`;
  }
}

/** `elasticsearch/events` → the name of that index. */
function indexOf(queue: string, { indices }: Store): string {
  const key = queue.slice(queue.indexOf('/') + 1);
  return Object.entries(indices).find(([index]) => index === key)?.[1] ?? key;
}

/** `; about 10,000 events wait` */
export function waitingText({ waiting }: Link): string {
  if (waiting === undefined) return '';
  return waiting === 1 ? '; 1 event waits' : `; about ${waiting.toLocaleString('en-US')} events wait`;
}
