import { childSignal } from '../abort.ts';
import { longestTimerMs } from '../clock.ts';

/** A caller's signal and a time limit as one signal. */
export interface Deadline {
  readonly signal: AbortSignal;
  readonly expired: boolean;
  /** Milliseconds left. */
  left(): number;
  /** Must be called when the work is over: removes timer and listener. */
  end(): void;
}

export function startDeadline(parent: AbortSignal | undefined, ms: number): Deadline {
  const child = childSignal(parent);
  const endsAt = performance.now() + ms;
  let expired = false;
  const timer = setTimeout(
    () => {
      expired = true;
      child.abort(new Error(`deadline of ${ms} ms`));
    },
    Math.min(ms, longestTimerMs),
  );
  return {
    signal: child.signal,
    get expired() {
      return expired;
    },
    left: () => Math.max(0, endsAt - performance.now()),
    end() {
      clearTimeout(timer);
      child.end();
    },
  };
}
