/** Step 2: every feature says what it installs. Two features that want one object are an error of their authors: the second is refused it. */
import type { Contribution } from '../contribution.ts';
import type { FeatureContext } from '../feature.ts';
import { templateOf } from '../workload/template.ts';
import { accountOf } from './account.ts';
import type { Active } from './examine.ts';

/** Step 2. Throws when two features contribute one object. */
export function contribute(running: readonly Active[], context: FeatureContext): readonly Contribution[] {
  const contributions = running.map(({ feature, config }): Contribution => {
    const objects = feature.contribute(config, context);
    const hasPods = objects.some((object) => templateOf(object) !== undefined);
    return { feature: feature.id, objects: hasPods ? [...accountOf(feature, context), ...objects] : objects };
  });
  refuseTwins(contributions);
  return contributions;
}

function refuseTwins(contributions: readonly Contribution[]): void {
  const wanted = new Map<string, string>();
  for (const { feature, objects } of contributions) {
    for (const { apiVersion, kind, metadata } of objects) {
      const key = `${apiVersion} ${kind} ${metadata.name}`;
      const first = wanted.get(key);
      if (first !== undefined)
        throw new TypeError(`features ${first} and ${feature} both contribute ${kind} ${metadata.name}: rename one`);
      wanted.set(key, feature);
    }
  }
}
