/**
 * Asks collectors, and the relays beside gateways, for their figures, all at once.
 *
 * Invariant: never fails, takes no longer than it may, reads no more than `LONGEST_TEXT` of each, and follows nobody elsewhere. Who does not
 * answer has no reading: that alone says nothing of the pipeline, because the operator may run where it reaches no pod.
 */
import { METRICS_PORT } from '../collector.ts';
import { RELAY_STATUS_PORT } from '../relay.ts';
import type { Collector } from './collectors.ts';
import { type Reading, toReading } from './reading.ts';
import { type RelayReading, toRelayReading } from './refusals.ts';

/** The address that a collector, or the relay in the same pod, tells its figures at. */
export type Reach = (collector: Collector, part: 'collector' | 'relay') => string;

/** A busy collector tells some 50 kB. */
const LONGEST_TEXT = 2_000_000;

/** At the address of its pod. */
export const reachPod: Reach = ({ ip }, part) => {
  const host = ip.includes(':') ? `[${ip}]` : ip;
  return `http://${host}:${part === 'relay' ? RELAY_STATUS_PORT : METRICS_PORT}/metrics`;
};

/** A collector that answered. */
export interface Answer {
  readonly collector: Collector;
  readonly reading: Reading;
  /** Of the relay beside it, where that answered. */
  readonly relay?: RelayReading;
}

/** How they are asked. */
export interface Asking {
  readonly reach: Reach;
  /** How long all of them together have. */
  readonly patienceMs: number;
}

/** Those that answer, in the order of asking. */
export async function askAll(
  collectors: readonly Collector[],
  { reach, patienceMs }: Asking,
): Promise<readonly Answer[]> {
  const limit = AbortSignal.timeout(patienceMs);
  const answers = await Promise.all(
    collectors.map(async (collector) => {
      const tell = (part: 'collector' | 'relay') => ask(reach(collector, part), limit).catch(() => undefined);
      const [told, ofRelay] = await Promise.all([
        tell('collector'),
        collector.hasRelay === true ? tell('relay') : undefined,
      ]);
      const reading = told === undefined ? undefined : toReading(told);
      const relay = ofRelay === undefined ? undefined : toRelayReading(ofRelay);
      return reading === undefined ? [] : [{ collector, reading, ...(relay === undefined ? {} : { relay }) }];
    }),
  );
  return answers.flat();
}

async function ask(url: string, signal: AbortSignal): Promise<string | undefined> {
  const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'text/plain' } });
  if (response.status !== 200 || response.body === null) return undefined;
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > LONGEST_TEXT) return undefined;
  }
  return text;
}
