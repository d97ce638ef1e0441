/** What is said of a feature: whether it works, in words that tell a person what to look at. */
import type { ObjectSet } from '@keelson/runtime';
import type { KubeObject } from '@keelson/schema';

/** How one feature does: its condition, and the numbers behind it. */
export interface Assessment {
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase: `Ready`, `ImagePullFailed`, `CrashLoop`. */
  readonly reason: string;
  /** `Falco running on 3/3 nodes`. */
  readonly message: string;
  readonly ready?: number;
  readonly desired?: number;
}

/** What a feature is judged by. Nothing is read for it: all of it was in the caches. */
export interface AssessContext {
  /** `Falco` */
  readonly title: string;
  /** What the feature wants to be there, as it is applied. */
  readonly wanted: readonly KubeObject[];
  /** What the agent owns, as it is now. */
  readonly owned: ObjectSet;
  /** The pods of the feature, and the events about their making. */
  readonly related: ObjectSet;
  readonly now: Date;
}
