/**
 * What the relays beside gateways tell of documents that the store does not take: for which index, of which type the error is, and what became of
 * them. A document that is kept as a dead letter counts as stored for the gateway, so nobody else knows. Pure.
 */
import { parseMetrics } from './metrics.ts';
import { QUIET_MS } from './tools.ts';

/** They are dead letters; they are nowhere; they wait in the gateway. */
const METRICS = {
  kept: 'keelson_relay_dead_letters_total',
  lost: 'keelson_relay_lost_documents_total',
  held: 'keelson_relay_held_documents_total',
} as const;
const outcomes = Object.keys(METRICS) as (keyof typeof METRICS)[];

/** Documents that the store does not take. */
export interface Refused {
  readonly outcome: keyof typeof METRICS;
  readonly index: string;
  /** Type of the error, in the words of the store: `mapper_parsing_exception`. */
  readonly type: string;
}

/** What a relay has counted since it started, by refusal. */
export type RelayReading = ReadonlyMap<string, Counted>;

interface Counted {
  readonly refused: Refused;
  readonly total: number;
}

/** When each was last seen to grow. */
export type RefusalMemory = ReadonlyMap<string, { readonly refused: Refused; readonly at: number }>;

/** Attempts at what waits are half a minute apart at most; told for a little longer than that, and no more. */
const HELD_MS = 90_000;

/** What is told further, in the words of a status: a relay that was taken over shall not write them. */
const INDEX = /^[a-z0-9.][a-z0-9._-]{0,254}$/;
const TYPE = /^[a-z][a-z0-9_]{0,79}$/;

export function toRelayReading(text: string): RelayReading {
  const reading = new Map<string, Counted>();
  for (const outcome of outcomes) {
    for (const { labels, value } of parseMetrics(text, (name) => name === METRICS[outcome])) {
      const { index = '', error_type: type = '' } = labels;
      if (!INDEX.test(index) || !TYPE.test(type)) continue;
      reading.set(`${outcome} ${index} ${type}`, { refused: { outcome, index, type }, total: value });
    }
  }
  return reading;
}

/** What is remembered after a round: of every relay what it told before and now. A count that fell begins anew. */
export function followRefusals(
  relays: readonly { readonly before: RelayReading | undefined; readonly now: RelayReading }[],
  memory: RefusalMemory = new Map(),
  at: number,
): RefusalMemory {
  const grown = relays.flatMap(({ before, now }) =>
    // Seen for the first time, a count does not say when it grew.
    before === undefined
      ? []
      : [...now].filter(([key, { total }]) => {
          const last = before.get(key)?.total ?? 0;
          return total < last ? total > 0 : total > last;
        }),
  );
  const fresh = [...memory].filter(([, { refused, at: seen }]) => at - seen < ageOf(refused));
  return new Map([...fresh, ...grown.map(([key, { refused }]) => [key, { refused, at }] as const)]);
}

/** As they are told: in an order that does not change. */
export function refusalsIn(memory: RefusalMemory): readonly Refused[] {
  return [...memory].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { refused }]) => refused);
}

function ageOf({ outcome }: Refused): number {
  return outcome === 'held' ? HELD_MS : QUIET_MS;
}
