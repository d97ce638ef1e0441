/**
 * Step 4: what the user wants otherwise. `spec.override` at two levels: `nodeAgent` changes the pods of every DaemonSet, then each key of
 * `perTool` those of one feature or one workload, the narrower last. The fields of an override are *parts* (parts/).
 *
 * Invariant: pure, and total for every override that the CRD lets through; nothing that it is given is changed. A part that is
 * malformed, reaches nothing or would leave a workload that no server takes is skipped and said; all others are applied.
 */
import type { KubeObject, Problem } from '@keelson/schema';
import type { Contribution } from '../contribution.ts';
import { templateOf } from '../workload/template.ts';
import { type GivenPart, givenParts } from './parts/index.ts';
import { type Merged, titleOf, type Workload } from './parts/part.ts';
import { below } from './patch/plain.ts';
import { everyDaemonSet, type Reach, reachOf, strangerMessage } from './reach.ts';
import type { Override, ToolOverride } from './schema.ts';
import { flawsOf } from './validity.ts';

const ROOT = 'spec.override';

export interface Overridden {
  readonly contributions: readonly Contribution[];
  /** Every part of the override that has no effect or not all of it, and why. */
  readonly unmatched: readonly Problem[];
}

/** Step 4. `knownFeatures` are the ids of all features, whether they run or not. */
export function applyOverrides(
  override: Override | undefined,
  contributions: readonly Contribution[],
  knownFeatures: readonly string[],
): Overridden {
  const levels = levelsOf(
    override,
    contributions.map(({ feature }) => feature),
  );
  let workloads = workloadsOf(contributions);
  const unmatched: Problem[] = [];
  for (const level of levels) {
    const reached = workloads.filter(({ feature, workload }) => level.reach(feature, workload.object));
    if (reached.length === 0) {
      const message = level.key === undefined ? noDaemonSet : strangerMessage(level.key, contributions, knownFeatures);
      unmatched.push({ path: level.path, message });
    }
    const outcome = applyLevel(
      level,
      reached.map(({ workload }) => workload),
    );
    unmatched.push(...outcome.unmatched);
    const changed = new Map(reached.map(({ workload }, index) => [workload, outcome.workloads[index] ?? workload]));
    workloads = workloads.map((one) => ({ ...one, workload: changed.get(one.workload) ?? one.workload }));
  }
  const objects = new Map(workloads.map(({ original, workload }) => [original, workload.object]));
  return {
    contributions: contributions.map((one) => ({
      ...one,
      objects: one.objects.map((object) => objects.get(object) ?? object),
    })),
    unmatched: withoutTwins(unmatched),
  };
}

/** Every malformed part of an override, by its path: what can be said before anything is installed. */
export function overrideProblems(override: Override | undefined): readonly Problem[] {
  return levelsOf(override, []).flatMap((level) => checkParts(level).problems);
}

const noDaemonSet = 'no DaemonSet is installed: there is nothing to override';

interface Level {
  /** The key of `perTool`; undefined for `nodeAgent`. */
  readonly key: string | undefined;
  readonly path: string;
  readonly reach: Reach;
  readonly override: ToolOverride;
}

function levelsOf(override: Override | undefined, features: readonly string[]): readonly Level[] {
  const { nodeAgent, perTool = {} } = override ?? {};
  const tools = Object.entries(perTool).map(([key, tool]): Level => {
    return { key, path: below(`${ROOT}.perTool`, key), reach: reachOf(key, features), override: tool };
  });
  const isFeature = ({ key = '' }: Level): boolean => features.includes(key);
  return [
    ...(nodeAgent === undefined || Object.keys(nodeAgent).length === 0
      ? []
      : [{ key: undefined, path: `${ROOT}.nodeAgent`, reach: everyDaemonSet, override: nodeAgent }]),
    ...tools.filter(isFeature),
    ...tools.filter((level) => !isFeature(level)),
  ];
}

interface Placed {
  readonly feature: string;
  readonly original: KubeObject;
  readonly workload: Workload;
}

function workloadsOf(contributions: readonly Contribution[]): readonly Placed[] {
  return contributions.flatMap(({ feature, objects }) =>
    objects.flatMap((object) => {
      const template = templateOf(object);
      if (template === undefined) return [];
      return [{ feature, original: object, workload: { object, main: template.spec?.containers[0]?.name } }];
    }),
  );
}

function checkParts({ override, path }: Level): {
  readonly sound: readonly GivenPart[];
  readonly problems: readonly Problem[];
} {
  const checked = givenParts(override).map((given) => ({
    given,
    problems: given.part.check?.(given.value, below(path, given.name)) ?? [],
  }));
  return {
    sound: checked.filter(({ problems }) => problems.length === 0).map(({ given }) => given),
    problems: checked.flatMap(({ problems }) => problems),
  };
}

function applyLevel(
  level: Level,
  reached: readonly Workload[],
): { readonly workloads: readonly Workload[]; readonly unmatched: readonly Problem[] } {
  const { sound, problems } = checkParts(level);
  const outcomes = reached.map((workload) => applyParts(workload, sound, level.path));
  const missed = outcomes.map((outcome) => outcome.missed ?? []);
  const paths = missed.map((one) => new Set(one.map(({ path }) => path)));
  const everywhere = (missed[0] ?? []).filter(({ path }) => paths.every((one) => one.has(path)));
  return {
    workloads: outcomes.map(({ workload }) => workload),
    unmatched: [...problems, ...outcomes.flatMap(({ refused }) => refused ?? []), ...everywhere],
  };
}

function applyParts(workload: Workload, parts: readonly GivenPart[], path: string): Merged {
  const flaws = flawsOf(workload);
  const together = mergeParts(workload, parts, path);
  if (addedFlaws(together.workload, flaws).length === 0) return together;
  // Some part leaves what no server takes: one by one, each such part is left out.
  let merged: Merged = { workload };
  for (const given of parts) {
    const next = mergeParts(merged.workload, [given], path);
    const added = addedFlaws(next.workload, flaws);
    const message = `would leave ${titleOf(workload)} invalid: ${added.join('; ')}`;
    merged =
      added.length === 0
        ? joined(merged, next)
        : joined(merged, { workload: merged.workload, refused: [{ path: below(path, given.name), message }] });
  }
  return merged;
}

function mergeParts(workload: Workload, parts: readonly GivenPart[], path: string): Merged {
  return parts.reduce<Merged>(
    (merged, { name, part, value }) => joined(merged, part.merge(merged.workload, value, below(path, name))),
    { workload },
  );
}

function joined(before: Merged, after: Merged): Merged {
  return {
    workload: after.workload,
    refused: [...(before.refused ?? []), ...(after.refused ?? [])],
    missed: [...(before.missed ?? []), ...(after.missed ?? [])],
  };
}

function addedFlaws(workload: Workload, before: readonly string[]): readonly string[] {
  const known = new Set(before);
  return flawsOf(workload).filter((flaw) => !known.has(flaw));
}

function withoutTwins(problems: readonly Problem[]): readonly Problem[] {
  const byText = new Map(problems.map((problem) => [`${problem.path}: ${problem.message}`, problem]));
  return [...byText.values()];
}
