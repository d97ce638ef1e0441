/** A limit for code that is not ours: it is told by its signal when the time is up, and left behind when it does not listen. */
import { Fault, orAborted } from '@keelson/kube';
import { after, type Clock } from './clock.ts';

export interface TimeLimit {
  readonly clock: Clock;
  readonly ms: number;
  /** Of the work that this is part of. */
  readonly signal: AbortSignal;
  /** For the fault: `effect 'a'`. */
  readonly what: string;
}

/** What `run` comes to, a `TimedOut` fault when that takes too long, or the signal's reason as soon as it is aborted. */
export async function withTimeLimit<T>(limit: TimeLimit, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, ms, what } = limit;
  limit.signal.throwIfAborted();
  const late = new AbortController();
  const timeIsUp = new Fault('TimedOut', `${what} took longer than ${ms / 1_000} s`);
  const signal = AbortSignal.any([limit.signal, late.signal]);
  const cancel = after(clock, ms, () => late.abort(timeIsUp));
  try {
    const running = (async () => run(signal))();
    // It may fail when nobody waits for it any more.
    running.catch(() => undefined);
    return await orAborted(running, signal);
  } catch (error) {
    // What it makes of the signal says less than why it was aborted.
    throw late.signal.aborted ? timeIsUp : error;
  } finally {
    cancel();
  }
}
