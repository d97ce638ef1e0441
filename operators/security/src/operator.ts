/**
 * The security operator: one SecurityAgent is the security stack of a cluster. Seven steps, in this order; each is a pure function of
 * its own in steps/. Reads happen before (the engine's caches, `observe`), writes after (the engine).
 *
 *   0 finalizer   the engine: an agent with cluster-scoped objects is held until they are gone
 *   1 select      which features run, and which are held back and why
 *   2 contribute  every feature says what it installs
 *   3 synthesise  the configuration of the collectors, from what the features write
 *   4 override    what the user wants otherwise
 *   5 apply       the engine: server-side apply as `security-operator`, only what differs
 *   6 prune       the engine: what carries this agent's marks and is neither wanted nor kept
 *   7 report      how every feature does
 *
 * By the engine too, as effects: index templates in the store, and what the collectors tell of the events that flow through them.
 */
import { apply, defineOperator } from '@keelson/runtime';
import { Secret } from '@keelson/schema';
import { createAdmission } from './admission.ts';
import { type Feature, featureList } from './feature.ts';
import { features as allFeatures } from './features/index.ts';
import { applyOverrides } from './override/override.ts';
import { SecurityAgent } from './resource.ts';
import { featureContext } from './steps/context.ts';
import { contribute } from './steps/contribute.ts';
import { dress, sharedObjects } from './steps/dress.ts';
import { healthOf } from './steps/health.ts';
import { keptRefs } from './steps/kept.ts';
import { ownedKinds, passedOn, watchedKinds } from './steps/kinds.ts';
import { lookOutside, type Outside } from './steps/outside.ts';
import { recheckAfter } from './steps/recheck.ts';
import { report } from './steps/report.ts';
import { selectFeatures } from './steps/select.ts';
import { synthesise } from './steps/synthesise.ts';
import type { Reach } from './telemetry/health/ask.ts';
import { createHealthCheck, PIPELINE_HEALTH } from './telemetry/health/check.ts';
import { INDEX_TEMPLATES, installTemplates, templateEffects } from './telemetry/index-templates/install.ts';
import { noStanding, templateStanding } from './telemetry/index-templates/standing.ts';

export interface SecurityOperatorOptions {
  /** Where a collector tells its figures; at its pod unless told, for an operator that reaches pods in another way. */
  readonly reachCollector?: Reach;
}

/** The operator over a list of features: ours, or ours and somebody's own. */
export function createSecurityOperator(
  list: readonly Feature[] = allFeatures,
  { reachCollector }: SecurityOperatorOptions = {},
) {
  const features = featureList(list);
  const ids = features.map(({ id }) => id);
  const owns = ownedKinds(features);
  return defineOperator<typeof SecurityAgent, Outside | undefined>({
    name: 'security',
    description:
      'Installs the security tools of a SecurityAgent and the pipeline of their events, and tells whether they work.',
    resource: SecurityAgent,
    owns,
    watches: watchedKinds(features),
    reads: [
      {
        kind: Secret,
        why: 'the credentials of the store must be there before pods that use them are made, and open it for index templates',
      },
    ],
    grants: passedOn(features),
    admission: createAdmission(features),
    observe: (context) => lookOutside(context, features),
    effects: {
      [INDEX_TEMPLATES]: installTemplates,
      [PIPELINE_HEALTH]: createHealthCheck(reachCollector === undefined ? {} : { reach: reachCollector }),
    },

    reconcile(observed) {
      const { self, external: outside } = observed;
      const selection = selectFeatures(observed, features, owns);
      const context = featureContext(self, selection.sources);
      const contributed = contribute(selection.running, context);
      const synthesised = synthesise(contributed, selection.running, context, outside);
      const dressed = dress(synthesised, { self, features, kinds: owns, outside });
      const { contributions, unmatched } = applyOverrides(self.spec.override, dressed, ids);
      const contributedObjects = contributions.flatMap((one) => one.objects);
      const shared = sharedObjects(self, [...contributedObjects, ...selection.kept]);
      const objects = [...shared, ...contributedObjects];
      const installs = objects.length > 0;
      const templates = installs ? templateStanding(self, observed.effects.get(INDEX_TEMPLATES)) : noStanding;
      const health = healthOf(observed, selection, [...objects, ...selection.kept]);
      return apply({
        objects,
        keep: keptRefs(selection.kept, owns),
        status: report({ observed, selection, contributions, objects, unmatched, templates, health: health.standing }),
        effects: [...(installs ? templateEffects(self, outside?.secrets) : []), ...health.effects],
        events: [...templates.events, ...health.standing.events],
        recheckAfter: recheckAfter(observed, objects, owns),
      });
    },
  });
}

export const security = createSecurityOperator();
