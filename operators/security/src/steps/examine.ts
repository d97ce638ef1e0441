/**
 * Looks at what the user wrote, with nothing but the list of features at hand: which are enabled, which are known, whose config
 * fits. Asked by the webhook, so that mistakes are told before they are stored, and by the loop, for what came in without one.
 */
import { didYouMean, formatProblems, type Problem } from '@keelson/schema';
import { LONGEST_MESSAGE, shorten } from '../assess/text.ts';
import type { Feature } from '../feature.ts';
import type { Agent } from '../resource.ts';

/** A feature that is to run, with its config checked and complete. */
export interface Active {
  readonly feature: Feature;
  readonly config: unknown;
}

/** A feature that is enabled and cannot run as it is written down. */
export interface Misfit {
  readonly id: string;
  /** Absent when there is no feature of this name. */
  readonly feature?: Feature;
  readonly reason: 'UnknownFeature' | 'InvalidConfig';
  readonly problems: readonly Problem[];
}

export interface Examination {
  /** By priority. */
  readonly active: readonly Active[];
  readonly misfits: readonly Misfit[];
  /** What is wrong with features that are off: told, and no obstacle. */
  readonly dormant: readonly Misfit[];
}

/** Sorts the features of a spec into those that fit and those that do not. */
export function examine(spec: Agent['spec'], features: readonly Feature[]): Examination {
  const active: Active[] = [];
  const misfits: Misfit[] = [];
  const dormant: Misfit[] = [];
  for (const { name, enabled, config } of spec.features) {
    const path = `spec.features[name=${name}]`;
    const feature = features.find(({ id }) => id === name);
    if (feature === undefined) {
      const ids = features.map(({ id }) => id);
      const message = `there is no feature '${name}'${didYouMean(name, ids)}; the features are ${ids.join(', ')}`;
      const misfit: Misfit = { id: name, reason: 'UnknownFeature', problems: [{ path: `${path}.name`, message }] };
      (enabled ? misfits : dormant).push(misfit);
      continue;
    }
    const parsed = feature.config.parse(config, `${path}.config`);
    if (!parsed.ok)
      (enabled ? misfits : dormant).push({ id: name, feature, reason: 'InvalidConfig', problems: parsed.problems });
    else if (enabled) active.push({ feature, config: parsed.value });
  }
  const order = (one: { readonly feature: Feature }): number => features.indexOf(one.feature);
  const followers = followersOf(spec, features, [...active, ...misfits]);
  return { active: [...active, ...followers].sort((a, b) => order(a) - order(b)), misfits, dormant };
}

/**
 * Those that run because others write, unless they are listed, even if only to be off. One whose config does not fit counts too: what it
 * installed before goes on writing.
 */
function followersOf(
  spec: Agent['spec'],
  features: readonly Feature[],
  enabled: readonly { readonly feature?: Feature }[],
): readonly Active[] {
  if (!enabled.some(({ feature }) => feature?.telemetry !== undefined)) return [];
  const listed = new Set(spec.features.map(({ name }) => name));
  return features.filter(({ id, followsSources }) => followsSources === true && !listed.has(id)).flatMap(withDefaults);
}

function withDefaults(feature: Feature): Active[] {
  const parsed = feature.config.parse({});
  return parsed.ok ? [{ feature, config: parsed.value }] : [];
}

/** Problems in one line that a terminal can hold: the first few, and how many more there are. */
export function problemText(problems: readonly Problem[]): string {
  const shown = formatProblems(problems.slice(0, SHOWN)).replaceAll('\n', '; ');
  const more = problems.length - SHOWN;
  return `${shorten(shown, LONGEST_MESSAGE)}${more > 0 ? `; and ${more} more` : ''}`;
}

const SHOWN = 5;
