/** What a user may set for Trivy. */
import { type Problem, type Static, Type } from '@keelson/schema';
import { OWN_IMAGE } from '../../own-image.ts';
import { scheduleFlaw } from './cron.ts';

export const config = Type.Object({
  schedule: Type.String({
    default: '0 */6 * * *',
    maxLength: 100,
    description: 'When reports are brought to the store: minute, hour, day of the month, month, day of the week.',
    examples: ['30 */2 * * *', '@daily'],
  }),
  timeZone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Time zone of the schedule. Default: that of the kube-controller-manager, mostly UTC.',
      examples: ['Asia/Seoul'],
    }),
  ),
  image: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: `Image of Keelson. Default: ${OWN_IMAGE}.` }),
  ),
});

export type Config = Static<typeof config>;

/** What the schema cannot say. */
export function check({ schedule, timeZone }: Config): readonly Problem[] {
  const flaw = scheduleFlaw(schedule);
  return [
    ...(flaw === undefined ? [] : [{ path: 'schedule', message: flaw }]),
    ...(timeZone === undefined || isTimeZone(timeZone)
      ? []
      : [{ path: 'timeZone', message: `must be UTC, or an area and a place such as Asia/Seoul, got '${timeZone}'` }]),
  ];
}

/** An area and a place, each written as in the database: to JavaScript `asia/seoul` is the same, to Kubernetes it is nothing. */
const areas = 'Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Etc|Europe|Indian|Pacific';
const word = '([A-Z][a-z]+([A-Z]?[A-Z][a-z]+)*|[A-Z]{2,3}|au|of|es|[0-9]+)';
const zonePattern = new RegExp(`^(${areas})(/${word}([-_+]${word})*)+$`);

function isTimeZone(name: string): boolean {
  if (name === 'UTC') return true;
  if (!zonePattern.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '';
  } catch {
    return false;
  }
}
