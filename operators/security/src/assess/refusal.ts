/** What of a feature could not be applied: the part of what the engine met that is about its objects, and about no others. */
import { type Obstacle, tellObstacles } from '@keelson/runtime';
import type { KubeObject } from '@keelson/schema';
import type { AssessContext } from './assessment.ts';

/** What stood in the way of objects that a feature wants, at the last turn. */
export function obstaclesTo({ wanted, failure }: Pick<AssessContext, 'wanted' | 'failure'>): readonly Obstacle[] {
  if (failure === undefined) return [];
  const names = new Set(wanted.map(nameOf));
  return failure.obstacles.filter(({ object }) => names.has(object));
}

/** Why something that a feature wants was not applied at the last turn; undefined when all of it was. */
export function refusalOf(context: Pick<AssessContext, 'wanted' | 'failure'>): string | undefined {
  const ours = obstaclesTo(context);
  return ours.length === 0 ? undefined : tellObstacles(ours);
}

/** An object as the engine calls it. */
export function nameOf({ kind, metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}
