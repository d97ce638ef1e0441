/** What one feature installs. The steps hand these on: contributed, dressed, overridden, applied. */
import type { KubeObject } from '@keelson/schema';

export interface Contribution {
  /** The id of the feature. */
  readonly feature: string;
  readonly objects: readonly KubeObject[];
}
