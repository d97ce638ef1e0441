/** What a user may set for Trivy. */
import { type Problem, type Static, Type } from '@keelson/schema';
import { VERSION } from '../../version.ts';
import { scheduleFlaw } from './cron.ts';

/** Keelson's own: it holds `keelson report vulnerabilities`. */
export const IMAGE = `ghcr.io/keelson/keelson:${VERSION}`;

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
    Type.String({ minLength: 1, maxLength: 512, description: `Image of Keelson. Default: ${IMAGE}.` }),
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
      : [{ path: 'timeZone', message: `must be a name of the IANA time zones such as Asia/Seoul, got '${timeZone}'` }]),
  ];
}

/** Offsets such as +09:00 are known to JavaScript and not to Kubernetes. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== undefined;
  } catch {
    return false;
  }
}
