/** How a CronJob of a feature does: a schedule that has not come round yet is no fault, a run that failed is. */
import { type CronJob, Pod } from '@keelson/schema';
import { groupTroubles, type Placed, type View } from './standing.ts';

export interface Rounds {
  readonly isReady: boolean;
  readonly reason: string;
  /** `scheduled at 0 *\/6 * * *, last success at 2026-01-01T06:00:12Z` */
  readonly text: string;
  readonly troubles: readonly Placed[];
}

/** Judges a live CronJob by its last run, and by the pods of runs since the last that succeeded. */
export function roundsOf(live: CronJob, view: View): Rounds {
  const { spec, status = {} } = live;
  const { lastScheduleTime: started, lastSuccessfulTime: succeeded } = status;
  const scheduled = `scheduled at ${spec.schedule}${spec.timeZone === undefined ? '' : ` ${spec.timeZone}`}`;
  if (spec.suspend === true)
    return { isReady: false, reason: 'Suspended', text: `${scheduled}, but suspended: nothing runs`, troubles: [] };
  const troubles = groupTroubles(podsSince(live, succeeded, view), live, view).map(
    // A run is not tried for ever: it does not loop, it has failed.
    (trouble): Placed => (trouble.reason === 'CrashLoop' ? { ...trouble, reason: 'JobFailed' } : trouble),
  );
  const isRunning = (status.active?.length ?? 0) > 0;
  const history = succeeded === undefined ? '' : `, last success at ${succeeded}`;
  const hasFailed = started !== undefined && !isRunning && (succeeded === undefined || before(succeeded, started));
  if (hasFailed)
    return {
      isReady: false,
      reason: 'JobFailed',
      text: `${scheduled}, the run of ${started} failed${history}`,
      troubles,
    };
  if (troubles.length > 0) return { isReady: false, reason: 'JobFailed', text: `${scheduled}${history}`, troubles };
  const now = isRunning ? ', runs now' : '';
  const never = started === undefined && succeeded === undefined ? ', has not run yet' : '';
  return { isReady: true, reason: 'Ready', text: `${scheduled}${now}${history}${never}`, troubles: [] };
}

/** A run is a Job named after the CronJob and the minute; its pods name it as their owner. */
function podsSince({ metadata }: CronJob, since: string | undefined, { related }: View): readonly Pod[] {
  return related.list(Pod).filter(({ metadata: { namespace, ownerReferences = [], creationTimestamp } }) => {
    const isOurs = ownerReferences.some(({ kind, name }) => kind === 'Job' && name.startsWith(`${metadata.name}-`));
    const isLater = since === undefined || creationTimestamp === undefined || before(since, creationTimestamp);
    return isOurs && isLater && namespace === metadata.namespace;
  });
}

function before(a: string, b: string): boolean {
  return Date.parse(a) < Date.parse(b);
}
