/**
 * What a SecurityAgent is told before it is stored: mistakes in a feature's config by their path, and warnings for what is allowed
 * and probably not meant. Where no webhook runs, the loop tells the same in conditions.
 */
import type { Admission, Verdict } from '@keelson/runtime';
import type { Problem } from '@keelson/schema';
import type { Feature } from './feature.ts';
import { applyOverrides, overrideProblems } from './override/override.ts';
import { type Agent, NO_API_KEYS, ONE_NAME, type SecurityAgent } from './resource.ts';
import { featureContext } from './steps/context.ts';
import { contribute } from './steps/contribute.ts';
import { dress } from './steps/dress.ts';
import { type Examination, examine } from './steps/examine.ts';
import { ownedKinds } from './steps/kinds.ts';
import { storeOf } from './store.ts';

export function createAdmission(features: readonly Feature[]): Admission<typeof SecurityAgent> {
  return {
    // Security must not wait for a webhook: the loop checks the same again.
    failurePolicy: 'Ignore',
    validate: ({ object }): Verdict => {
      const examination = examine(object.spec, features);
      return {
        problems: [
          ...examination.misfits.flatMap(({ problems }) => problems),
          ...outputProblems(object, examination),
          ...overrideProblems(object.spec.override),
        ],
        warnings: [...warningsOf(object, examination), ...overrideWarnings(object, examination, features)],
      };
    },
  };
}

/** The API server says the same by its rules; offline there is none. */
function outputProblems({ spec }: Agent, { active, misfits }: Examination): readonly Problem[] {
  const store = storeOf(spec.output);
  if (store === undefined)
    return active.length + misfits.length === 0
      ? []
      : [{ path: 'spec.output', message: 'is required as soon as a feature is enabled: name where events go' }];
  return [
    ...(store.url.includes('@')
      ? [
          {
            path: `${store.path}.url`,
            message: 'must not hold credentials: put them into a Secret and name it in auth.secretRef',
          },
        ]
      : []),
    ...(store.kind === 'opensearch' && store.auth?.apiKeySecretRef !== undefined
      ? [{ path: `${store.path}.auth.apiKeySecretRef`, message: NO_API_KEYS }]
      : []),
    ...(new Set(Object.values(store.indices)).size < Object.keys(store.indices).length
      ? [{ path: `${store.path}.indices`, message: ONE_NAME }]
      : []),
  ];
}

function warningsOf({ spec }: Agent, { active, dormant }: Examination): readonly string[] {
  const store = storeOf(spec.output);
  const listed = new Set(spec.features.map(({ name }) => name));
  const isCarried = active.some(({ feature }) => feature.followsSources === true);
  const stranded = isCarried ? [] : active.filter(({ feature }) => feature.telemetry !== undefined);
  const implied = active.filter(({ feature }) => !listed.has(feature.id));
  return [
    ...dormant.flatMap(({ problems }) =>
      problems.map(({ path, message }) => `${path}: ${message} (the feature is off)`),
    ),
    ...implied.map(
      ({ feature }) =>
        `spec.features: ${feature.id} is added, because others write events for it to carry; list it with enabled: false to go without`,
    ),
    ...stranded.map(
      ({ feature }) =>
        `spec.features[name=${feature.id}]: it writes events on the nodes that nobody carries to the store, because the pipeline is off`,
    ),
    ...(store?.tls?.insecureSkipVerify === true
      ? [`${store.path}.tls.insecureSkipVerify: anybody in between can read and change events; use caSecretRef`]
      : []),
  ];
}

/** What would be said by the condition OverridesApplied, if nothing stood in the way of any feature. */
function overrideWarnings(self: Agent, { active }: Examination, features: readonly Feature[]): readonly string[] {
  if (self.spec.override === undefined) return [];
  const malformed = new Set(overrideProblems(self.spec.override).map(({ path }) => path));
  const sources = active.flatMap(({ feature, config }) => feature.telemetry?.(config) ?? []);
  const contributed = contribute(active, featureContext(self, sources));
  const dressed = dress(contributed, { self, features, kinds: ownedKinds(features), outside: undefined });
  const ids = features.map(({ id }) => id);
  const { unmatched } = applyOverrides(self.spec.override, dressed, ids);
  return unmatched.filter(({ path }) => !malformed.has(path)).map(({ path, message }) => `${path}: ${message}`);
}
