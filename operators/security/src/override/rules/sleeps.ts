/** What a server demands of a container that sleeps when it starts or ends: no longer than its pod has to end. */
import type { Problem } from '@keelson/schema';
import type { Container } from 'kubernetes-types/core/v1.js';
import { below } from '../patch/plain.ts';

/** What a pod has to end when it does not say. */
const DEFAULT_GRACE_SECONDS = 30;

/** What is wrong with the sleeps of containers. */
export function checkSleeps(
  containers: readonly Container[],
  graceSeconds: number | undefined,
  path: string,
): readonly Problem[] {
  const grace = graceSeconds ?? DEFAULT_GRACE_SECONDS;
  return containers.flatMap(({ lifecycle }, index) =>
    (['postStart', 'preStop'] as const).flatMap((moment) => {
      const seconds = lifecycle?.[moment]?.sleep?.seconds;
      if (seconds === undefined || (seconds >= 0 && seconds <= grace)) return [];
      const message = `${seconds} is negative or more than terminationGracePeriodSeconds, ${grace}: change both`;
      return [{ path: `${below(path, index)}.lifecycle.${moment}.sleep.seconds`, message }];
    }),
  );
}
