/** A life cycle: the states an instance can be in and the transitions that are legal, as a table. */
export interface Lifecycle {
  /** The field of the status that holds the state, e.g. `phase`. */
  readonly field: string;
  readonly initial: string;
  readonly states: readonly string[];
  readonly transitions: Readonly<Record<string, readonly string[]>>;
}
