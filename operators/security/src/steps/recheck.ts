/**
 * When an agent is looked at again although nothing happened. Soon, when something is about to be made: our own writes wake nobody, and
 * what is said of features should not lag behind them. Else every 30 s: Secrets are looked up, not watched.
 */
import type { Observed } from '@keelson/runtime';
import type { Duration, KubeObject } from '@keelson/schema';
import type { SecurityAgent } from '../resource.ts';
import { kindOf, type OwnedKind } from './kinds.ts';

export function recheckAfter(
  { owned, failure }: Pick<Observed<typeof SecurityAgent>, 'owned' | 'failure'>,
  objects: readonly KubeObject[],
  kinds: readonly OwnedKind[],
): Duration {
  // What is refused stays refused for a while: asking every second would not help.
  if (failure !== undefined) return '30s';
  const isMissing = objects.some((object) => {
    const kind = kindOf(object, kinds);
    return kind !== undefined && owned.get<KubeObject>(kind, object.metadata) === undefined;
  });
  return isMissing ? '1s' : '30s';
}
