/** What held features installed before, as the engine is to leave it. */
import type { Apply } from '@keelson/runtime';
import type { KubeObject } from '@keelson/schema';
import { kindOf, type OwnedKind } from './kinds.ts';

export function keptRefs(
  objects: readonly KubeObject[],
  kinds: readonly OwnedKind[],
): NonNullable<Apply<never>['keep']> {
  return objects.flatMap((object) => {
    const kind = kindOf(object, kinds);
    const { name, namespace } = object.metadata;
    return kind === undefined ? [] : [{ kind, name, ...(namespace === undefined ? {} : { namespace }) }];
  });
}
