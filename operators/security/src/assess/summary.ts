/** All features together: the Ready condition of an agent. */
import type { ConditionNote } from '@keelson/runtime';
import type { Assessment } from './assessment.ts';
import { LONGEST_MESSAGE, shorten } from './text.ts';

/** A feature and how it does; one that is held back comes with the reason of the hold. */
export interface Assessed {
  readonly id: string;
  readonly title: string;
  readonly assessment: Assessment;
}

export interface Summary {
  readonly condition: ConditionNote;
  /** `2/3` */
  readonly featuresReady: string;
}

/** Ready when every enabled feature is; otherwise the message names each that is not, and why. */
export function summarise(assessed: readonly Assessed[]): Summary {
  const lacking = assessed.filter(({ assessment }) => assessment.status !== 'True');
  const featuresReady = `${assessed.length - lacking.length}/${assessed.length}`;
  if (lacking.length === 0) {
    const message =
      assessed.length === 0 ? 'No feature is enabled: nothing is installed' : 'All features reconciled successfully';
    return { condition: { type: 'Ready', status: 'True', reason: 'ReconcileSuccess', message }, featuresReady };
  }
  const status = lacking.some(({ assessment }) => assessment.status === 'False') ? 'False' : 'Unknown';
  const condition = { type: 'Ready', status, reason: 'FeaturesNotReady', message: lackText(lacking) } as const;
  return { condition, featuresReady };
}

/** `falco (ImagePullFailed): Falco running on 1/3 nodes; …`; each gets its share of the length. */
function lackText(lacking: readonly Assessed[]): string {
  const share = Math.max(40, Math.floor(LONGEST_MESSAGE / lacking.length));
  return lacking
    .map(({ id, assessment: { reason, message } }) => shorten(`${id} (${reason}): ${message}`, share))
    .join(' | ');
}
