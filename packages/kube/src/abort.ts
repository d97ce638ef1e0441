/** The promise's outcome, or the signal's reason if that comes first. The work itself goes on for whoever else waits for it. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    if (signal.aborted) return aborted();
    signal.addEventListener('abort', aborted, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

export interface ChildSignal {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Must be called when the work is over: takes the listener off the parent. */
  end(): void;
}

/**
 * A signal that follows its parent and can also be aborted alone. Written by hand because `AbortSignal.any` keeps what it derives
 * alive as long as the parent, and the parent here often lives as long as the process.
 */
export function childSignal(parent: AbortSignal | undefined): ChildSignal {
  const controller = new AbortController();
  const follow = () => controller.abort(parent?.reason);
  if (parent?.aborted === true) follow();
  else parent?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    end: () => parent?.removeEventListener('abort', follow),
  };
}
