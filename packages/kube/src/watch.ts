/**
 * One watch request as events. It ends when the server ends it; a broken or silent connection, an ERROR event and an event
 * that cannot be read are faults: nothing is swallowed. The reader's pace is the stream's pace.
 */
import { apiVersionOf, type Kind, type KubeObject } from '@keelson/schema';
import type { WatchEvent } from './client.ts';
import { longestTimerMs } from './clock.ts';
import { Fault } from './fault.ts';
import { LineSplitter } from './line-splitter.ts';
import { describeSubject } from './path.ts';
import { type Status, toStatusFault } from './transport/answer-fault.ts';
import type { ApiRequest } from './transport/api-request.ts';
import type { Exchange } from './transport/exchange.ts';
import type { Transport } from './transport/transport.ts';

const initialEventsEnd = 'k8s.io/initial-events-end';
const maxEventBytes = 256 << 20;

export async function* watchEvents<T extends KubeObject>(
  transport: Transport,
  request: ApiRequest,
  kind: Kind<T>,
  idleTimeoutMs: number,
  onOpen?: () => void,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const exchange = await transport.stream(request);
  onOpen?.();
  const stopIdling = stallAfter(exchange, idleTimeoutMs, request);
  const lines = new LineSplitter();
  try {
    for (let chunk = await exchange.read(); chunk !== undefined; chunk = await exchange.read()) {
      for (const line of lines.push(chunk)) yield toEvent(line, kind, request, transport.server);
      if (lines.pending > maxEventBytes) {
        const what = `cannot watch ${describeSubject(request.subject)}: an event of more than ${maxEventBytes >> 20} MiB`;
        throw new Fault('UnexpectedAnswer', what, { request: `GET ${request.path}` });
      }
    }
    if (lines.pending > 0) {
      const what = `the stream of ${describeSubject(request.subject)} from ${transport.server} ended in the middle of an event`;
      throw new Fault('StreamBroken', what, { request: `GET ${request.path}` });
    }
  } catch (error) {
    throw transport.streamFault(error, request);
  } finally {
    stopIdling();
    exchange.cancel(new Error('the watch is over'));
  }
}

function stallAfter(exchange: Exchange, idleTimeoutMs: number, request: ApiRequest): () => void {
  let timer: NodeJS.Timeout | undefined;
  const check = () => {
    const left = idleTimeoutMs - exchange.idleMs;
    if (left > 0) {
      timer = setTimeout(check, Math.min(left, longestTimerMs));
      return;
    }
    const what = `the stream of ${describeSubject(request.subject)} was silent for ${idleTimeoutMs / 1000} s: the connection is dead`;
    exchange.cancel(new Fault('StreamStalled', what, { request: `GET ${request.path}` }));
  };
  timer = setTimeout(check, Math.min(idleTimeoutMs, longestTimerMs));
  return () => clearTimeout(timer);
}

function toEvent<T extends KubeObject>(
  line: string,
  kind: Kind<T>,
  request: ApiRequest,
  server: string,
): WatchEvent<T> {
  const unexpected = (problem: string, cause?: unknown) =>
    new Fault(
      'UnexpectedAnswer',
      `cannot watch ${describeSubject(request.subject)}: ${problem}`,
      { request: `GET ${request.path}` },
      cause,
    );
  let event: { type?: unknown; object?: T & { message?: unknown } };
  try {
    event = JSON.parse(line);
  } catch (error) {
    throw unexpected(`an event of ${line.length} characters is no JSON; is a proxy in between?`, error);
  }
  const { type, object } = event;
  if (object === null || typeof object !== 'object')
    throw unexpected(`an event of type ${String(type)} without an object`);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      if (typeof object.metadata?.resourceVersion !== 'string')
        throw unexpected(`a ${type} event without a resourceVersion`);
      return { type, object: withKind(object, kind) };
    case 'BOOKMARK':
      return {
        type,
        resourceVersion: object.metadata?.resourceVersion ?? '',
        initialEventsEnd: object.metadata?.annotations?.[initialEventsEnd] === 'true',
      };
    case 'ERROR': {
      const status = object as unknown as Status;
      throw toStatusFault(status.kind === 'Status' ? status : undefined, {
        status: status.code ?? 500,
        body: line,
        request: `GET ${request.path}`,
        subject: request.subject,
        server,
      });
    }
    default:
      throw unexpected(`an event of the unknown type ${JSON.stringify(type)}`);
  }
}

/** Sets apiVersion and kind, which servers leave out of list items and replace in metadata-only answers. Changes in place. */
export function withKind<T extends KubeObject>(object: T, kind: Kind<T>): T {
  object.apiVersion = apiVersionOf(kind);
  object.kind = kind.kind;
  return object;
}
