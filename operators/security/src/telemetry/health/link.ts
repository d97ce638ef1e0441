/** Whether events get from one kind of collector to what comes next, and what waits if they do not. Pure. */
import type { Followed } from './follow.ts';

/** How full the fullest queue is. */
export type Fill = 'low' | 'half' | 'full';

export interface Link {
  readonly state: 'free' | 'stuck';
  readonly fill: Fill;
  /** The queues that are held up, by exporter: `elasticsearch/events`. */
  readonly queues: readonly string[];
  /** Who is held up, by name; empty when nobody got anything through since it began. */
  readonly places: readonly string[];
  /** What they are answered; unknown when nobody answers. */
  readonly answer?: string;
  /** About how many events wait; only told in trouble. */
  readonly waiting?: number;
  /** Somebody tries and gets nothing through, not yet for long enough to be sure. */
  readonly isSuspect: boolean;
}

/** As long somebody must have tried in vain; longer than the store needs to think now and then. Three rounds when looking closely. */
export const PROOF_MS = 19_000;

/** How the link stands that these send over. `scale`: for how many collectors each of them stands. */
export function linkOf(followed: readonly Followed[], fill: Fill, scale: number): Link {
  const held = followed.flatMap(({ collector, known }) =>
    Object.entries(known.heldSince).map(([exporter, since]) => ({ collector, known, exporter, since })),
  );
  const stuck = held.filter(({ since, known }) => known.at - since >= PROOF_MS);
  const isSuspect = held.length > stuck.length;
  const isTrouble = stuck.length > 0 || fill !== 'low';
  const waiting = isTrouble ? coarse(waitingIn(followed) * scale) : 0;
  const began = Math.min(...stuck.map(({ since }) => since));
  const others = followed.some(({ known }) => (known.movedAt ?? 0) > began);
  const answer = mostFrequent(stuck.flatMap(({ known }) => known.answer ?? []));
  return {
    state: stuck.length > 0 ? 'stuck' : 'free',
    fill,
    queues: distinct(stuck.map(({ exporter }) => exporter)),
    places: others ? distinct(stuck.map(({ collector }) => collector.name)) : [],
    ...(answer === undefined ? {} : { answer }),
    ...(waiting === 0 ? {} : { waiting }),
    isSuspect,
  };
}

/** How full the fullest is, said so that it does not change with every event: it must clearly fall before it is called less. */
export function fillOf(followed: readonly Followed[], before: Fill = 'low'): Fill {
  const shares = followed.flatMap(({ known }) =>
    Object.values(known.reading.queues).map(({ bytes, capacity }) => (capacity > 0 ? bytes / capacity : 0)),
  );
  const share = Math.max(0, ...shares);
  if (share >= 0.9 || (before === 'full' && share >= 0.7)) return 'full';
  return share >= 0.5 || (before !== 'low' && share >= 0.25) ? 'half' : 'low';
}

/** About how many events lie in the queues of these; of one exporter, or of all. */
export function waitingIn(followed: readonly Followed[], exporter?: string): number {
  return followed
    .flatMap(({ known }) => Object.entries(known.reading.queues))
    .filter(([name]) => exporter === undefined || name === exporter)
    .reduce((sum, [, { events = 0 }]) => sum + events, 0);
}

/** Down to 1, 2 or 5 times a power of ten: a figure that grows is told again now and then, not with every event. */
export function coarse(count: number): number {
  if (count < 1) return 0;
  const power = 10 ** Math.floor(Math.log10(count));
  const step = [5, 2, 1].find((one) => count >= one * power) ?? 1;
  return step * power;
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}

function mostFrequent(values: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))[0]?.[0];
}
