/**
 * A caller's signal and a time limit as one signal. Written by hand because `AbortSignal.any` keeps what it derives alive
 * as long as the parent, and the parent here often lives as long as the process.
 */
export interface Deadline {
  readonly signal: AbortSignal;
  readonly expired: boolean;
  /** Milliseconds left. */
  left(): number;
  /** Must be called when the work is over: removes timer and listener. */
  end(): void;
}

export function startDeadline(parent: AbortSignal | undefined, ms: number): Deadline {
  const controller = new AbortController();
  const endsAt = Date.now() + ms;
  let expired = false;
  const timer = setTimeout(() => {
    expired = true;
    controller.abort(new Error(`deadline of ${ms} ms`));
  }, ms);
  const aborted = () => controller.abort(parent?.reason);
  if (parent?.aborted === true) aborted();
  else parent?.addEventListener('abort', aborted, { once: true });
  return {
    signal: controller.signal,
    get expired() {
      return expired;
    },
    left: () => Math.max(0, endsAt - Date.now()),
    end() {
      clearTimeout(timer);
      parent?.removeEventListener('abort', aborted);
    },
  };
}
