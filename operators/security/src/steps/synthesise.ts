/**
 * Step 3: the configuration of the collectors, out of what the features write, and the certificates by which they know each other. Both go with
 * the feature that runs them.
 */
import type { Contribution } from '../contribution.ts';
import type { FeatureContext } from '../feature.ts';
import { collectorConfigMaps } from '../telemetry/config-maps.ts';
import { trustSecrets } from '../telemetry/trust-secrets.ts';
import type { Active } from './examine.ts';
import type { Outside } from './outside.ts';

/** Step 3. Nothing is synthesised when nobody runs collectors, or nobody writes. */
export function synthesise(
  contributions: readonly Contribution[],
  running: readonly Active[],
  context: FeatureContext,
  outside: Outside | undefined,
): readonly Contribution[] {
  const carrier = running.find(({ feature }) => feature.followsSources === true);
  const deadLetters = carrier?.feature.deadLetters?.(carrier.config);
  return contributions.map((one) => {
    if (one.feature !== carrier?.feature.id || one.objects.length === 0) return one;
    // Empty Secrets are for offline alone: applied, they would take the keys away from a pipeline that runs.
    if (outside !== undefined && outside.trust === undefined)
      throw new TypeError('a pipeline is wanted for which no certificates were looked for');
    const maps = collectorConfigMaps(context, deadLetters);
    return { ...one, objects: [...one.objects, ...maps, ...trustSecrets(outside?.trust)] };
  });
}
