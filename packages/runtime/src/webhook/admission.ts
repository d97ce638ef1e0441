/** Admission: what an operator checks or fills in before an instance is stored. Pure; also run offline by `render` and `plan`. */
import type { Instance, Resource } from '@keelson/schema';

export interface Review<R extends Resource> {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
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

export interface Admission<R extends Resource = Resource> {
  /** Any problem refuses the request; warnings are shown by kubectl. */
  readonly validate?: (review: Review<R>) => Verdict;
  /** Returns the spec as it should be stored. */
  readonly mutate?: (review: Review<R>) => Instance<R>['spec'];
}
