/**
 * One watch as the reflector needs it: `opened` tells that the stream stands even when nothing happens on it, and `close` ends
 * it at once even while an event is awaited (a bare async generator would wait for that event first).
 */
import type { Kind, KubeObject } from '@keelson/schema';
import { childSignal } from '../abort.ts';
import type { KubeClient, WatchEvent, WatchOptions } from '../client.ts';
import { Fault } from '../fault.ts';

export interface Stream<T> {
  /** True once the server has accepted the watch; false when it ended or failed before. */
  opened(): Promise<boolean>;
  /** The next event, or undefined when the server has ended the watch; a broken or, beyond `withinMs`, silent one is a fault. */
  next(withinMs?: number): Promise<WatchEvent<T> | undefined>;
  close(): void;
}

export function openStream<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  options: WatchOptions & { signal: AbortSignal },
): Stream<T> {
  const child = childSignal(options.signal);
  const stands = Promise.withResolvers<true>();
  const events = client.watch(kind, { ...options, signal: child.signal, onOpen: () => stands.resolve(true) });
  let first: Promise<IteratorResult<WatchEvent<T>, void>> | undefined = events.next();
  // Its outcome is taken by `next`; a reader that closes before that must not leave an unhandled rejection behind.
  first.catch(() => undefined);
  const firstEvent = first.then(
    (result) => result.done !== true,
    () => false,
  );
  return {
    opened: () => Promise.race([stands.promise, firstEvent]),
    async next(withinMs) {
      const pending = first ?? events.next();
      first = undefined;
      const result = await (withinMs === undefined ? pending : within(pending, withinMs));
      return result.done === true ? undefined : result.value;
    },
    close() {
      child.abort(new Error('the reflector closed its stream'));
      child.end();
      events.return().catch(() => undefined);
    },
  };
}

async function within<T>(pending: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Fault('StreamStalled', `no event within ${ms / 1000} s`)), ms);
  try {
    return await Promise.race([pending, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
