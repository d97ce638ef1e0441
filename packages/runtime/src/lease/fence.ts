/**
 * The fence: the one question asked before every write. It says no from the moment a lease may have passed to somebody else.
 * fence-writes.ts asks it at the wire; code that asks it earlier only spares itself work that would come to nothing.
 */
export interface Fence {
  /** Throws a `LeaseLost` fault when we may not write any more. */
  check(): void;
}

/** The fence of a process that runs alone. */
export const openFence: Fence = { check() {} };
