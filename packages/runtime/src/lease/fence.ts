/** The fence: the one question asked before every write. It says no from the moment a lease may have passed to somebody else. */
export interface Fence {
  /** Throws when we may not write any more. */
  check(): void;
}
