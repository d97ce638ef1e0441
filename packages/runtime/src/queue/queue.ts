/**
 * The queue between what happens in the cluster and the workers. It holds keys, never events or objects: what a key has to do
 * is read from the caches when it runs.
 *
 * Invariants: a key stands in the queue at most once, and never runs twice at once: one that is added while it runs runs again
 * afterwards. No add is lost: after `add(key)` the key starts at some moment, after `addAfter(key, ms)` no later than that; the
 * earliest of several delays wins. A live change overtakes retries, and retries overtake resync and start-up; first come, first
 * served within each; but whoever is overtaken eight times in a row is next. Every operation is O(log n) or better.
 *
 * It is fed by controller/ and emptied by workers.ts. Nothing here is asynchronous but the one timer for the next delay.
 */
import { backoffDelay } from '@keelson/kube';
import { after, type Clock } from '../clock.ts';
import type { Key } from '../key.ts';
import type { Backoff } from './backoff.ts';
import { createHeap } from './heap.ts';
import { createLine, type Line } from './line.ts';

export const priorities = ['live', 'retry', 'background'] as const;
export type Priority = (typeof priorities)[number];

/** How often a lower priority is passed over before it is served. */
const PATIENCE = 8;

/** Told what happens, for metrics. */
export interface QueueObserver {
  added(): void;
  started(waitedMs: number): void;
  finished(workedMs: number): void;
  retried(): void;
}

export interface QueueOptions {
  readonly clock: Clock;
  readonly observer?: QueueObserver;
}

export interface Queue {
  /** The key is to run soon. */
  add(key: Key, priority?: Priority): void;
  /** The key is to run within this time. */
  addAfter(key: Key, ms: number, priority?: Priority): void;
  /** The key failed: it is to run again, later the more often it failed, but not before `atLeastMs`. Answers the delay. */
  retry(key: Key, backoff: Backoff, atLeastMs?: number): number;
  /** The key is well: its failures count no more. */
  forget(key: Key): void;
  /** The next key to run, which is running from now on; undefined when none is ready. */
  take(): Key | undefined;
  /** The key that was taken has stopped running. */
  done(key: Key): void;
  /** Drops everything that does not run, failures included. */
  clear(): void;
  /** How many keys are ready, of one priority or of all. */
  depth(priority?: Priority): number;
  /** How many keys wait for their time. */
  readonly delayed: number;
  failures(key: Key): number;
  /** What runs, and since when (by the monotonic clock). */
  running(): Iterable<readonly [Key, number]>;
  /** Called each time a key has become ready; replaces the one before. */
  onReady(listener: () => void): void;
}

interface Entry {
  readonly key: Key;
  state: 'idle' | 'ready' | 'delayed' | 'running';
  priority: Priority;
  /** When it became ready, when it falls due, or when it started, by state. */
  since: number;
  failures: number;
  /** Added while running: when it is due, and how urgent it is. */
  again: { due: number; priority: Priority } | undefined;
  place: number;
  before: Entry | undefined;
  after: Entry | undefined;
}

/** An empty queue. */
export function createQueue({ clock, observer }: QueueOptions): Queue {
  const entries = new Map<Key, Entry>();
  const lines: Record<Priority, Line<Entry>> = { live: createLine(), retry: createLine(), background: createLine() };
  const passedOver: Record<Priority, number> = { live: 0, retry: 0, background: 0 };
  const delays = createHeap<Entry>((a, b) => a.since < b.since);
  const runningEntries = new Set<Entry>();
  let announceReady = (): void => {};
  let alarm: { at: number; cancel: () => void } | undefined;

  function entryOf(key: Key): Entry {
    const known = entries.get(key);
    if (known !== undefined) return known;
    const entry: Entry = {
      key,
      state: 'idle',
      priority: 'background',
      since: 0,
      failures: 0,
      again: undefined,
      place: -1,
      before: undefined,
      after: undefined,
    };
    entries.set(key, entry);
    return entry;
  }

  function ready(entry: Entry, priority: Priority): void {
    entry.state = 'ready';
    entry.priority = priority;
    entry.since = clock.monotonic();
    lines[priority].push(entry);
    observer?.added();
    announceReady();
  }

  function delay(entry: Entry, priority: Priority, due: number): void {
    entry.state = 'delayed';
    entry.priority = priority;
    entry.since = due;
    delays.push(entry);
    setAlarm();
  }

  function setAlarm(): void {
    const next = delays.peek()?.since;
    if (next === alarm?.at) return;
    alarm?.cancel();
    alarm = next === undefined ? undefined : { at: next, cancel: after(clock, next - clock.monotonic(), ring) };
  }

  function ring(): void {
    alarm = undefined;
    const now = clock.monotonic();
    for (let entry = delays.peek(); entry !== undefined && entry.since <= now; entry = delays.peek()) {
      delays.remove(entry);
      ready(entry, entry.priority);
    }
    setAlarm();
  }

  function schedule(key: Key, due: number, priority: Priority): void {
    const entry = entryOf(key);
    const isNow = due <= clock.monotonic();
    switch (entry.state) {
      case 'running':
        entry.again = {
          due: Math.min(due, entry.again?.due ?? Number.POSITIVE_INFINITY),
          priority: moreUrgent(priority, entry.again?.priority),
        };
        return;
      case 'ready':
        if (isNow && moreUrgent(priority, entry.priority) !== entry.priority) {
          lines[entry.priority].remove(entry);
          entry.priority = priority;
          lines[priority].push(entry);
        }
        return;
      case 'delayed':
        entry.priority = moreUrgent(priority, entry.priority);
        if (isNow) {
          delays.remove(entry);
          ready(entry, entry.priority);
        } else if (due < entry.since) {
          entry.since = due;
          delays.moved(entry);
        }
        setAlarm();
        return;
      case 'idle':
        if (isNow) ready(entry, priority);
        else delay(entry, priority, due);
    }
  }

  function nextLine(): Line<Entry> | undefined {
    const waiting = priorities.filter((priority) => lines[priority].size > 0);
    const chosen = waiting.findLast((priority) => passedOver[priority] >= PATIENCE) ?? waiting[0];
    if (chosen === undefined) return undefined;
    for (const priority of waiting) passedOver[priority] += 1;
    passedOver[chosen] = 0;
    return lines[chosen];
  }

  /** Whatever has nothing left to say costs no memory. */
  function release(entry: Entry): void {
    if (entry.state === 'idle' && entry.failures === 0) entries.delete(entry.key);
  }

  return {
    add: (key, priority = 'live') => schedule(key, clock.monotonic(), priority),
    addAfter: (key, ms, priority = 'retry') => schedule(key, clock.monotonic() + ms, priority),
    retry(key, backoff, atLeastMs = 0) {
      const entry = entryOf(key);
      const ms = Math.max(atLeastMs, backoffDelay(entry.failures, backoff, clock.random()));
      entry.failures += 1;
      observer?.retried();
      schedule(key, clock.monotonic() + ms, 'retry');
      return ms;
    },
    forget(key) {
      const entry = entries.get(key);
      if (entry === undefined) return;
      entry.failures = 0;
      release(entry);
    },
    take() {
      const line = nextLine();
      const entry = line?.first;
      if (line === undefined || entry === undefined) return undefined;
      line.remove(entry);
      const now = clock.monotonic();
      observer?.started(now - entry.since);
      entry.state = 'running';
      entry.since = now;
      runningEntries.add(entry);
      return entry.key;
    },
    done(key) {
      const entry = entries.get(key);
      if (entry?.state !== 'running') throw new RangeError(`'${key}' was not taken: only what take() gave can be done`);
      runningEntries.delete(entry);
      observer?.finished(clock.monotonic() - entry.since);
      entry.state = 'idle';
      const { again } = entry;
      entry.again = undefined;
      if (again === undefined) release(entry);
      else schedule(key, again.due, again.priority);
    },
    clear() {
      for (const entry of [...entries.values()]) {
        entry.failures = 0;
        entry.again = undefined;
        if (entry.state === 'ready') lines[entry.priority].remove(entry);
        if (entry.state === 'delayed') delays.remove(entry);
        if (entry.state !== 'running') entries.delete(entry.key);
      }
      setAlarm();
    },
    depth: (priority) =>
      priority === undefined ? priorities.reduce((sum, one) => sum + lines[one].size, 0) : lines[priority].size,
    get delayed() {
      return delays.size;
    },
    failures: (key) => entries.get(key)?.failures ?? 0,
    *running() {
      for (const { key, since } of runningEntries) yield [key, since];
    },
    onReady(listener) {
      announceReady = listener;
    },
  };
}

function moreUrgent(a: Priority, b: Priority | undefined): Priority {
  return b === undefined || priorities.indexOf(a) < priorities.indexOf(b) ? a : b;
}
