/** What is said of a link that holds events up: who, to whom, why, what to do, and how many wait. */
import { enumerate } from '../../assess/text.ts';
import { GATEWAY } from '../../names.ts';
import type { Store } from '../../store.ts';
import type { Role } from './collectors.ts';
import { isSuccess } from './follow.ts';
import type { Findings } from './judge.ts';
import type { Link } from './link.ts';

/** Of many nodes or pods. */
const SHOWN = 3;

export interface Trouble {
  readonly reason: string;
  /** Without figures. */
  readonly text: string;
}

/** Why nothing gets through. */
export function troubleOf(role: Role, { links, isGatewayUp }: Findings, store: Store): Trouble {
  return role === 'gateway' ? toStore(links.gateway, store) : toGateway(links.node, isGatewayUp);
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

function toStore({ places, queues, answer }: Link, store: Store): Trouble {
  const who = places.length === 0 ? 'gateways' : `gateway ${enumerate(places, SHOWN)}`;
  const indices = enumerate(queues.map((queue) => indexOf(queue, store)));
  const { origin } = new URL(store.url);
  return {
    reason: answer === undefined || /^5/.test(answer) ? 'StoreNotReached' : 'StoreRefuses',
    text: `${who} cannot write ${indices} to ${origin}: ${storeWhy(answer, store)}`,
  };
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
