/** What is said of a feature: whether it works, in words that tell a person what to look at. */
import type { ObjectSet, Observed } from '@keelson/runtime';
import type { Kind, KubeObject } from '@keelson/schema';
import type { Agent } from '../resource.ts';

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
  /** The kinds of those that are not built in: without its kind an object cannot be looked for. */
  readonly kinds?: readonly Kind[];
  /** What the agent owns, as it is now. */
  readonly owned: ObjectSet;
  /** The pods of the agent, and the events about their making. */
  readonly related: ObjectSet;
  /** Why the last decision could not be carried out, if it could not: tells why something is missing. */
  readonly failure?: Observed['failure'];
  /** As the user wrote it, for messages that name the place in it; left out, they name none. */
  readonly override?: Agent['spec']['override'] | undefined;
  readonly now: Date;
}
