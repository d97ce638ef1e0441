/**
 * How a feature does, judged by what it installed: the default for every feature. Pure: from what the caches hold to words that a person
 * needs. `steps/report.ts` calls it for every feature that runs.
 *
 * Invariant: a feature is ready when everything it wants exists, and every node or replica that should run it does so in the newest
 * version. Otherwise the condition has the most telling reason, and the message says where, what, why and what to do. The same
 * cluster gives the same words, so that a status at rest is never written.
 */
import { readinessOf } from '@keelson/runtime';
import { builtInKinds, type CronJob, type Kind, type KubeObject } from '@keelson/schema';
import { FEATURE_LABEL } from '../names.ts';
import type { AssessContext, Assessment } from './assessment.ts';
import { type Rounds, roundsOf } from './cron-job.ts';
import { selectorPaths } from './placement.ts';
import { nameOf, obstaclesTo, refusalOf } from './refusal.ts';
import { type Placed, type Standing, standingOf, type View } from './standing.ts';
import { enumerate, LONGEST_MESSAGE, plural, shorten } from './text.ts';
import { gravityOf } from './trouble.ts';

/** Of the troubles of one feature, and of the nodes or pods of one trouble. */
const SHOWN = 3;

/** Judges a feature by its workloads, and by whether all else that it wants is there. */
export function assessWorkloads(context: AssessContext): Assessment {
  const found = context.wanted.map((object) => findLive(object, context));
  const missing = found.filter(({ kind, live }) => kind !== undefined && live === undefined);
  if (missing.length > 0) return absent(missing, context);
  const standings: Standing[] = [];
  const rounds: (Rounds & { readonly name: string })[] = [];
  const others: string[] = [];
  for (const { object, kind, live } of found) {
    if (kind === undefined || live === undefined) continue;
    const view: View = {
      related: context.related,
      override: overridePath(object),
      selectors: selectorPaths(object, context.override),
      now: context.now,
    };
    if (isStanding(kind)) standings.push(standingOf(kind, live, view));
    else if (kind.kind === 'CronJob') rounds.push({ ...roundsOf(live as CronJob, view), name: object.metadata.name });
    else {
      const { state, message } = readinessOf(kind, live);
      if (state !== 'ready') others.push(message);
    }
  }
  return conclude(context, standings, rounds, others);
}

interface Found {
  readonly object: KubeObject;
  readonly kind: Kind | undefined;
  readonly live: KubeObject | undefined;
}

function findLive(object: KubeObject, { owned, kinds = [] }: AssessContext): Found {
  const group = object.apiVersion.includes('/') ? object.apiVersion.replace(/\/.*$/, '') : '';
  const kind = [...kinds, ...builtInKinds].find((one) => one.kind === object.kind && one.group === group);
  const live = kind === undefined ? undefined : owned.get<KubeObject>(kind, object.metadata);
  return { object, kind, live: live?.metadata.deletionTimestamp === undefined ? live : undefined };
}

function isStanding({ kind, group }: Kind): boolean {
  return group === 'apps' && ['DaemonSet', 'Deployment', 'StatefulSet'].includes(kind);
}

/** Users know a tool by its feature; what carries no feature is known by its own name. */
function overridePath({ metadata }: KubeObject): string {
  return `spec.override.perTool.${metadata.labels?.[FEATURE_LABEL] ?? metadata.name}`;
}

const workloadKinds = ['DaemonSet', 'Deployment', 'StatefulSet', 'CronJob'];

/** Something is not there: not applied yet, refused, or on its way out. The workload is what a person asks for first. */
function absent(missing: readonly Found[], context: AssessContext): Assessment {
  const taken = new Set(obstaclesTo(context).flatMap(({ object, cause }) => (cause === 'refused' ? [object] : [])));
  // It exists, and somebody else has it: that is the whole story.
  if (context.failure !== undefined && missing.every(({ object }) => taken.has(nameOf(object)))) {
    const message = `${context.title}: ${refusalOf(context)}`;
    return { status: 'False', reason: context.failure.reason, message: shorten(message, LONGEST_MESSAGE) };
  }
  const texts = missing.map(({ object }) => `${object.kind} ${object.metadata.name}`);
  const workload = missing.find(({ object }) => workloadKinds.includes(object.kind))?.object;
  const reason = workload === undefined ? 'NotApplied' : `${workload.kind}NotFound`;
  const refusal = refusalOf(context);
  const because = refusal === undefined ? '' : `: ${refusal}`;
  const verb = missing.length === 1 ? 'does' : 'do';
  const message = `${context.title}: ${enumerate(texts, SHOWN)} ${verb} not exist yet${because}`;
  return { status: 'False', reason, message: shorten(message, LONGEST_MESSAGE) };
}

function conclude(
  context: AssessContext,
  standings: readonly Standing[],
  rounds: readonly (Rounds & { readonly name: string })[],
  others: readonly string[],
): Assessment {
  const counts =
    standings.length === 0
      ? {}
      : { ready: sum(standings.map(({ ready }) => ready)), desired: sum(standings.map(({ desired }) => desired)) };
  const head = [
    ...(standings.length === 0 ? [] : [`running ${runningText(standings)}`]),
    ...rounds.map(({ text }) => text),
  ];
  const about = `${context.title} ${head.length === 0 ? `applied, ${plural(context.wanted.length, 'object')}` : head.join('; ')}`;
  const problems = [
    ...problemsOfApplying(context),
    ...standings.flatMap(problemsOfStanding),
    ...rounds.flatMap(problemsOfRounds),
  ].sort((a, b) => a.gravity - b.gravity);
  const [first] = problems;
  if (first === undefined && others.length === 0)
    return { status: 'True', reason: 'Ready', message: shorten(about, LONGEST_MESSAGE), ...counts };
  const isSeveral = standings.length + rounds.length > 1;
  const texts = problems.map(({ workload, text }) =>
    isSeveral && text !== '' && workload !== undefined ? `${workload}: ${text}` : text,
  );
  const told = [...texts.filter((text) => text !== ''), ...others];
  const more = told.length - SHOWN;
  const message = [about, ...told.slice(0, SHOWN), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  return {
    status: 'False',
    reason: first?.reason ?? 'NotReady',
    message: shorten(message, LONGEST_MESSAGE),
    ...counts,
  };
}

interface Problem {
  readonly workload?: string;
  readonly gravity: number;
  readonly reason: string;
  readonly text: string;
}

/** What runs is not what is wanted as long as a change of it is refused, however well it runs. */
function problemsOfApplying(context: AssessContext): readonly Problem[] {
  const refusal = refusalOf(context);
  if (refusal === undefined || context.failure === undefined) return [];
  return [{ gravity: -1, reason: context.failure.reason, text: shorten(refusal, 300) }];
}

function problemsOfStanding({ isReady, name, troubles, progress }: Standing): readonly Problem[] {
  if (isReady) return [];
  if (troubles.length === 0) return [{ workload: name, gravity: Number.POSITIVE_INFINITY, ...progress }];
  return troubles.map((trouble) => toProblem(name, trouble));
}

function problemsOfRounds({ isReady, name, reason, troubles }: Rounds & { readonly name: string }): readonly Problem[] {
  if (isReady) return [];
  if (troubles.length === 0) return [{ workload: name, gravity: Number.POSITIVE_INFINITY, reason, text: '' }];
  return troubles.map((trouble) => toProblem(name, trouble));
}

/** `on node-2 and node-3: image a/b:1 cannot be pulled: not found: check its name and tag` */
function toProblem(workload: string, trouble: Placed): Problem {
  const { reason, places, text, remedy } = trouble;
  const isPods = places.some((place) => place.startsWith('pod '));
  const where = places.length === 0 ? '' : `${isPods ? '' : 'on '}${enumerate(places, SHOWN)}: `;
  const whole = `${where}${text}${remedy === undefined ? '' : ` → ${remedy}`}`;
  return { workload, gravity: gravityOf(trouble), reason, text: whole };
}

/** `on 3/3 nodes and with 2/2 replicas`; two of one unit are told apart by their names. */
function runningText(standings: readonly Standing[]): string {
  return enumerate(
    standings.map(({ unit, ready, desired, name }) => {
      const isShared = standings.filter((one) => one.unit === unit).length > 1;
      return `${unit === 'nodes' ? 'on' : 'with'} ${ready}/${desired} ${unit}${isShared ? ` (${name})` : ''}`;
    }),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
