/**
 * What stands in the way of a decision: object by object for operators, which know what each is for, and as one message of bounded length
 * for people. Of objects of which the same is true it is said once. Pure.
 */
import type { Executed } from '../execute/execute.ts';
import { objectText } from '../plan/wanted.ts';

export interface Obstacle {
  /** `ConfigMap shop/web` */
  readonly object: string;
  /** Somebody else has it; or the API server would not take what we sent; or it was not tried, because something else is missing. */
  readonly cause: 'refused' | 'failed' | 'held';
  /** A sentence that names the object and what to do. */
  readonly text: string;
  /** The end of a sentence about several objects of which the same is true: `exist already and belong to …`. */
  readonly together?: string;
}

const SHOWN = 3;
const NAMED = 20;
/** Of the text about one object: a server can have much to say. */
const LONGEST = 1_000;

/** Everything that a turn could not do, what failed first. */
export function obstaclesOf({ failures, refusals, held }: Omit<Executed, 'steps' | 'leaving'>): readonly Obstacle[] {
  return [
    ...failures.map(({ step, fault }) => ({
      object: objectText(step.kind, step.action === 'delete' ? step.live : step.object),
      cause: 'failed' as const,
      text: fault.message,
    })),
    ...[
      ...refusals.map((refusal) => ({ ...refusal, cause: 'refused' as const })),
      ...held.map((one) => ({ ...one, cause: 'held' as const })),
    ].map(({ kind, object, because, together, cause }) => ({
      object: objectText(kind, object),
      cause,
      text: because,
      together,
    })),
  ];
}

/** All of it in one message: the first few in full, the others by name. */
export function tellObstacles(obstacles: readonly Obstacle[]): string {
  const groups = grouped(obstacles);
  const names = groups.slice(SHOWN).flatMap((group) => group.map(({ object }) => object));
  const more = names.length - NAMED;
  return [
    ...groups.slice(0, SHOWN).map(sentence),
    ...(names.length > 0 ? [`likewise ${names.slice(0, NAMED).join(', ')}`] : []),
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join('; ');
}

/** In the order of the first of each group. */
function grouped(obstacles: readonly Obstacle[]): readonly (readonly Obstacle[])[] {
  const groups = new Map<string, Obstacle[]>();
  for (const obstacle of obstacles) {
    const key = obstacle.together ?? `one: ${obstacle.text}`;
    groups.set(key, [...(groups.get(key) ?? []), obstacle]);
  }
  return [...groups.values()];
}

/** Few are named first; of many it is said first what is the matter, because that is what a short line has room for. */
function sentence(group: readonly Obstacle[]): string {
  const [first] = group;
  const text =
    group.length === 1 || first?.together === undefined
      ? (first?.text ?? '')
      : together(
          group.map(({ object }) => object),
          first.together,
        );
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

/** `ConfigMap shop/a and Service shop/b exist already …`, `17 objects exist already … (ConfigMap shop/a, …, Service shop/c and 14 more)` */
function together(names: readonly string[], words: string): string {
  const more = names.length - SHOWN;
  if (more > 0) return `${names.length} objects ${words} (${names.slice(0, SHOWN).join(', ')} and ${more} more)`;
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)} ${words}`;
}
