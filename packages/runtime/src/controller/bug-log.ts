/** Remembers which bugs have been logged with their stack: the same one a thousand times over is one stack and a thousand short lines. */
export interface BugLog {
  /** True the first time that an error of this kind and message is seen. */
  isNew(error: unknown): boolean;
}

const MOST = 1_000;

export function createBugLog(): BugLog {
  const seen = new Set<string>();
  return {
    isNew(error) {
      const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      if (seen.has(text)) return false;
      if (seen.size >= MOST) seen.clear();
      seen.add(text);
      return true;
    },
  };
}
