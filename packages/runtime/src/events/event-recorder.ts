/**
 * The recorder that writes to the API server, one event after the other, behind the back of whoever records.
 *
 * Invariants: recording never waits and never fails. An object that keeps saying the same has one Event with a count; an object
 * that keeps saying something new is cut short; the buffer is bounded; and nothing is written once the fence says no. What is
 * dropped is counted, because events are for people and the work goes on without them.
 */
import { randomBytes } from 'node:crypto';
import { isFault, type KubeClient, orAborted } from '@keelson/kube';
import { Event, type KubeObject, type Ref } from '@keelson/schema';
import { after, type Clock } from '../clock.ts';
import type { Fence } from '../lease/fence.ts';
import { fenceWrites } from '../lease/fence-writes.ts';
import type { Logger } from '../logging/logger.ts';
import { toMicroTime } from '../micro-time.ts';
import { type EventSource, toEvent } from './note.ts';
import type { RecordedNote, Recorder } from './recorder.ts';
import { createTokenBuckets } from './token-bucket.ts';

export type DropReason = 'rate' | 'buffer' | 'refused' | 'fenced';

export interface EventRecorderOptions {
  readonly client: KubeClient;
  readonly source: EventSource;
  readonly clock: Clock;
  readonly fence: Fence;
  readonly logger: Logger;
  readonly onDrop?: (reason: DropReason) => void;
}

/** How long after its last occurrence the same note is still the same series. */
const SERIES_MS = 6 * 60_000;
/** How often the count of a series is written. */
const SERIES_WRITE_MS = 30_000;
const LARGEST_BUFFER = 500;
const MOST_SERIES = 4_096;
/** Ten different notes on one object at once, then one in thirty seconds. */
const BURST = 10;
const REFILL_MS = 30_000;
const WRITE_TIMEOUT_MS = 10_000;

interface Series {
  readonly ref: Ref;
  count: number;
  lastAt: number;
  lastWall: number;
  writtenAt: number;
  /** Cancels the write of the count that is due; undefined when none is. */
  cancel: (() => void) | undefined;
}

export function createEventRecorder(options: EventRecorderOptions): Recorder {
  const { clock, fence, logger, source } = options;
  const client = fenceWrites(options.client, fence);
  const buckets = createTokenBuckets(clock, BURST, REFILL_MS);
  const known = new Map<string, Series>();
  const buffer: (() => Promise<void>)[] = [];
  let writing: Promise<void> | undefined;
  let lastRefusal: string | undefined;

  function drop(reason: DropReason): void {
    options.onDrop?.(reason);
  }

  function enqueue(write: () => Promise<void>): void {
    if (buffer.length >= LARGEST_BUFFER) {
      drop('buffer');
      return;
    }
    buffer.push(write);
    writing ??= drain();
  }

  async function drain(): Promise<void> {
    // Whoever records is in the middle of something: nothing is done before it has returned.
    await Promise.resolve();
    for (let write = buffer.shift(); write !== undefined; write = buffer.shift()) await attempt(write);
    writing = undefined;
  }

  async function attempt(write: () => Promise<void>): Promise<void> {
    try {
      fence.check();
      await write();
      lastRefusal = undefined;
    } catch (error) {
      const code = isFault(error) ? error.code : 'bug';
      drop(code === 'LeaseLost' ? 'fenced' : 'refused');
      if (code !== lastRefusal && code !== 'LeaseLost') logger.warn({ error }, 'an event could not be written');
      lastRefusal = code;
    }
  }

  function begin(id: string, regarding: KubeObject, note: RecordedNote): void {
    const event = toEvent(regarding, note, source, clock.now(), randomBytes(8).toString('hex'));
    const { name, namespace } = event.metadata;
    const now = clock.monotonic();
    known.set(id, {
      ref: namespace === undefined ? { name } : { name, namespace },
      count: 1,
      lastAt: now,
      lastWall: clock.now(),
      writtenAt: now,
      cancel: undefined,
    });
    enqueue(async () => {
      await client.create(Event, event, { timeoutMs: WRITE_TIMEOUT_MS });
    });
  }

  function writeCount(series: Series): void {
    series.cancel?.();
    series.cancel = undefined;
    series.writtenAt = clock.monotonic();
    const value = { series: { count: series.count, lastObservedTime: toMicroTime(series.lastWall) } };
    enqueue(async () => {
      await client.patch(Event, series.ref, { type: 'merge', value }, { timeoutMs: WRITE_TIMEOUT_MS });
    });
  }

  function forgetOld(now: number): void {
    for (const [id, series] of known) {
      if (now - series.lastAt > SERIES_MS || known.size > MOST_SERIES) {
        series.cancel?.();
        known.delete(id);
      }
    }
  }

  return {
    record(regarding, note) {
      const { uid, namespace, name } = regarding.metadata;
      const object = uid ?? `${regarding.kind}/${namespace ?? ''}/${name}`;
      const id = JSON.stringify([object, note.type, note.reason, note.message, note.action, note.related]);
      const now = clock.monotonic();
      const series = known.get(id);
      if (series !== undefined && now - series.lastAt <= SERIES_MS) {
        series.count += 1;
        series.lastAt = now;
        series.lastWall = clock.now();
        series.cancel ??= after(clock, series.writtenAt + SERIES_WRITE_MS - now, () => writeCount(series));
        return;
      }
      if (!buckets.take(object)) {
        drop('rate');
        return;
      }
      if (known.size >= MOST_SERIES) forgetOld(now);
      begin(id, regarding, note);
    },
    async flush(signal) {
      for (const series of known.values()) if (series.cancel !== undefined) writeCount(series);
      // Nothing but the signal ends it early.
      if (writing !== undefined) await orAborted(writing, signal).catch(() => undefined);
    },
  };
}
