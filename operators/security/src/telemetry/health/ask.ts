/**
 * Asks collectors for their figures, all at once.
 *
 * Invariant: never fails, takes no longer than it may, reads no more than `LONGEST_TEXT` of each, and follows nobody elsewhere. Who does not
 * answer has no reading: that alone says nothing of the pipeline, because the operator may run where it reaches no pod.
 */
import { METRICS_PORT } from '../collector.ts';
import type { Collector } from './collectors.ts';
import { type Reading, toReading } from './reading.ts';

/** The address that a collector tells its figures at. */
export type Reach = (collector: Collector) => string;

/** A busy collector tells some 50 kB. */
const LONGEST_TEXT = 2_000_000;

/** At the address of its pod. */
export const reachPod: Reach = ({ ip }) => `http://${ip.includes(':') ? `[${ip}]` : ip}:${METRICS_PORT}/metrics`;

/** A collector that answered. */
export interface Answer {
  readonly collector: Collector;
  readonly reading: Reading;
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
      const reading = await ask(reach(collector), limit).catch(() => undefined);
      return reading === undefined ? [] : [{ collector, reading }];
    }),
  );
  return answers.flat();
}

async function ask(url: string, signal: AbortSignal): Promise<Reading | undefined> {
  const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'text/plain' } });
  if (response.status !== 200 || response.body === null) return undefined;
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > LONGEST_TEXT) return undefined;
  }
  return toReading(text);
}
