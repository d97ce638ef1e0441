/**
 * The figures of one collector that tell how events flow through it. Names are those of OpenTelemetry Collector 0.157 at level
 * `detailed`, seen in its own output; a newer one that adds units and types to them is understood too.
 */
import { parseMetrics, type Sample } from './metrics.ts';

/** A queue of a collector: what it has taken and not yet handed on. */
export interface Queue {
  /** Events that were handed on since the program started. */
  readonly sent: number;
  readonly bytes: number;
  readonly capacity: number;
  /** Whether it is trying to hand something on: an event that waits for others to make a batch with is not held up. */
  readonly isSending: boolean;
  /** About how many events the bytes are, as far as it can be told from those that came before. */
  readonly events?: number;
}

export interface Reading {
  /** Seconds since the program started: figures count from there. */
  readonly uptime: number;
  /** Events that came in, by receiver: `filelog/falco`. */
  readonly received: Readonly<Record<string, number>>;
  /** By exporter: `otlp`, `elasticsearch/events`. */
  readonly queues: Readonly<Record<string, Queue>>;
  /** What those answered that it sends to: how often, by status of gRPC (`UNAVAILABLE`) or HTTP (`401`). */
  readonly answers: Readonly<Record<string, number>>;
  /** Documents that the store will never take. */
  readonly refused: number;
}

const RECEIVED = 'otelcol_receiver_accepted_log_records';
const SENT = 'otelcol_exporter_sent_log_records';
const QUEUE_SIZE = 'otelcol_exporter_queue_size';
const QUEUE_CAPACITY = 'otelcol_exporter_queue_capacity';
const IN_FLIGHT = 'otelcol_exporter_in_flight_requests';
const BATCHED_EVENTS = 'otelcol_exporter_queue_batch_send_size_sum';
const BATCHED_BYTES = 'otelcol_exporter_queue_batch_send_size_bytes_sum';
const FAILED = 'otelcol_exporter_send_failed_log_records';
const DOCUMENTS = 'otelcol_elasticsearch_docs_processed';
const RPC = 'rpc_client_call_duration_count';
const HTTP = 'http_client_request_duration_count';
const UPTIME = 'otelcol_process_uptime';
const names = new Set([
  ...[RECEIVED, SENT, QUEUE_SIZE, QUEUE_CAPACITY, IN_FLIGHT, BATCHED_EVENTS, BATCHED_BYTES],
  ...[FAILED, DOCUMENTS, RPC, HTTP, UPTIME],
]);

/** What is told further, in the words of a status: a collector that was taken over shall not write them. */
const STATUS = /^([A-Z][A-Z_]{1,24}|[1-5]\d\d)$/;
const COMPONENT = /^[a-z][a-z0-9_]{0,62}(\/[a-z][a-z0-9_]{0,62})?$/;

/** Out of what a collector tells; undefined where that is something else, such as the page of a proxy. */
export function toReading(text: string): Reading | undefined {
  const samples = parseMetrics(text, (name) => names.has(plainName(name))).map((sample) => ({
    ...sample,
    name: plainName(sample.name),
  }));
  const of = (name: string) => samples.filter((sample) => sample.name === name);
  const [uptime] = of(UPTIME);
  if (uptime === undefined) return undefined;
  return {
    uptime: uptime.value,
    received: sumBy(of(RECEIVED), 'receiver'),
    queues: queuesOf(of),
    answers: {
      ...sumBy(of(RPC), 'rpc_response_status_code', STATUS),
      ...sumBy(of(HTTP), 'http_response_status_code', STATUS),
    },
    refused: sum([...of(FAILED), ...of(DOCUMENTS).filter(isRefused)]),
  };
}

/** What a collector counted since an earlier reading, or since it started. */
export interface Growth {
  readonly received: Readonly<Record<string, number>>;
  /** Events that were handed on, by exporter. */
  readonly sent: Readonly<Record<string, number>>;
  readonly answers: Readonly<Record<string, number>>;
  readonly refused: number;
}

/** From one reading of a program to a later one of the same. */
export function growthSince(before: Reading | undefined, now: Reading): Growth {
  const sent = (reading: Reading | undefined) =>
    Object.fromEntries(Object.entries(reading?.queues ?? {}).map(([exporter, queue]) => [exporter, queue.sent]));
  return {
    received: differences(before?.received, now.received),
    sent: differences(sent(before), sent(now)),
    answers: differences(before?.answers, now.answers),
    refused: Math.max(0, now.refused - (before?.refused ?? 0)),
  };
}

function differences(
  before: Readonly<Record<string, number>> = {},
  now: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(now).map(([key, value]) => [key, Math.max(0, value - (before[key] ?? 0))]));
}

/** `otelcol_process_uptime_seconds_total` → `otelcol_process_uptime` */
function plainName(name: string): string {
  return name.replace(/_total$/, '').replace(/_seconds(?=_count$|$)/, '');
}

function queuesOf(of: (name: string) => readonly Sample[]): Readonly<Record<string, Queue>> {
  const [sent, capacity] = [sumBy(of(SENT), 'exporter'), sumBy(of(QUEUE_CAPACITY), 'exporter')];
  const inFlight = sumBy(of(IN_FLIGHT), 'exporter');
  const [events, bytes] = [sumBy(of(BATCHED_EVENTS), 'exporter'), sumBy(of(BATCHED_BYTES), 'exporter')];
  const queues = Object.entries(sumBy(of(QUEUE_SIZE), 'exporter')).map(([exporter, size]): [string, Queue] => {
    const [batchedEvents = 0, batchedBytes = 0] = [events[exporter], bytes[exporter]];
    return [
      exporter,
      {
        sent: sent[exporter] ?? 0,
        bytes: size,
        capacity: capacity[exporter] ?? 0,
        // Not told before the first attempt, nor by older versions.
        isSending: inFlight[exporter] !== 0,
        ...(batchedBytes > 0 ? { events: Math.round((size * batchedEvents) / batchedBytes) } : {}),
      },
    ];
  });
  return Object.fromEntries(queues);
}

/** One that is there already (409) was sent again: that is how duplicates are kept out. */
function isRefused({ labels }: Sample): boolean {
  return labels.outcome !== 'success' && labels.http_response_status_code !== '409';
}

function sumBy(samples: readonly Sample[], label: string, form = COMPONENT): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const { labels, value } of samples) {
    const key = labels[label];
    if (key !== undefined && form.test(key)) sums.set(key, (sums.get(key) ?? 0) + value);
  }
  return Object.fromEntries(sums);
}

function sum(samples: readonly Sample[]): number {
  return samples.reduce((total, { value }) => total + value, 0);
}
