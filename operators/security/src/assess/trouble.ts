/** What is wrong with a pod, or with the making of pods: a reason, words, and what to do about it. */

/**
 * The reasons, the most telling first: where several things are wrong, the condition has the reason that stands first here.
 * Each explains those after it: a pod that may not be made is never scheduled, one without its image never crashes.
 */
const reasons = [
  'NoMatchingNode',
  'PodSecurityForbidden',
  'QuotaExceeded',
  'AdmissionDenied',
  'FailedCreate',
  'ImagePullFailed',
  'ConfigMissing',
  'ContainerNotCreated',
  'OutOfMemory',
  'CrashLoop',
  'JobFailed',
  'Unschedulable',
  'NodeUnreachable',
  'Evicted',
  'PodFailed',
  'NotStarted',
  'ProbeFailing',
] as const;

export type TroubleReason = (typeof reasons)[number];

export interface Trouble {
  readonly reason: TroubleReason;
  /** What two pods with the same trouble have in common; the text may differ in details, such as restarts. */
  readonly key: string;
  /** What is wrong and why: `image a/b:1 cannot be pulled: not found`. */
  readonly text: string;
  /** What to do about it: `check its name and tag`. */
  readonly remedy?: string;
}

/** Where a trouble stands among the others: lower is more telling. */
export function gravityOf({ reason }: Pick<Trouble, 'reason'>): number {
  return reasons.indexOf(reason);
}
