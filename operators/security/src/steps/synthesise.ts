/** Step 3: the configuration of the collectors, out of what the features write. It goes with the feature that runs them. */
import type { Contribution } from '../contribution.ts';
import type { FeatureContext } from '../feature.ts';
import { collectorConfigMaps } from '../telemetry/config-maps.ts';
import type { Active } from './examine.ts';

/** Step 3. Nothing is synthesised when nobody runs collectors, or nobody writes. */
export function synthesise(
  contributions: readonly Contribution[],
  running: readonly Active[],
  context: FeatureContext,
): readonly Contribution[] {
  const carrier = running.find(({ feature }) => feature.followsSources === true)?.feature.id;
  return contributions.map((one) =>
    one.feature === carrier && one.objects.length > 0
      ? { ...one, objects: [...one.objects, ...collectorConfigMaps(context)] }
      : one,
  );
}
