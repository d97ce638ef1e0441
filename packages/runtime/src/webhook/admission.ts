/** Admission: what an operator checks or fills in before an instance is stored. Pure; also run offline by `render` and `plan`. */
import type { Instance, Resource } from '@keelson/schema';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

export interface Review<R extends Resource> {
  readonly operation: Operation;
  /** Frozen, in the stored version. On DELETE it is what is about to go. */
  readonly object: Instance<R>;
  readonly old?: Instance<R>;
  readonly user: { readonly username: string; readonly groups: readonly string[] };
}

export interface Problem {
  /** `spec.features[falco].config.driver` */
  readonly path: string;
  readonly message: string;
}

export interface Verdict {
  readonly problems?: readonly Problem[];
  readonly warnings?: readonly string[];
}

/** The functions are methods for the same reason as those of an operator: an admission of any resource is also an `Admission`. */
export interface Admission<R extends Resource = Resource> {
  /**
   * Any problem refuses the request; warnings are shown by kubectl. The schema holds already. When the spec is as it was, problems
   * with it are warnings.
   */
  validate?(review: Review<R>): Verdict;
  /** Returns the spec as it should be stored. Asked on CREATE, and on UPDATE of the spec, about what fits the schema; what it returns is checked against it. */
  mutate?(review: Review<R>): Instance<R>['spec'];
  /**
   * What `validate` is asked about; CREATE and UPDATE unless told. With DELETE, nothing can be deleted while no replica
   * answers, not even by deleting the namespace.
   */
  readonly operations?: readonly Operation[];
  /** What becomes of a request while no replica answers: refused (`Fail`, the default) or stored unchecked (`Ignore`). */
  readonly failurePolicy?: 'Fail' | 'Ignore';
  /** How long the API server waits for an answer: 1 to 30, 10 unless told. */
  readonly timeoutSeconds?: number;
}
