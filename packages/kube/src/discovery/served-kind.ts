import type { Kind } from '@keelson/schema';

/** A kind as the server describes it: all that a Kind holds, and how people name it and what may be done with it. */
export interface ServedKind extends Kind {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
}
