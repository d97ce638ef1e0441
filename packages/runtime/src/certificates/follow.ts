/** Follows one object by its name, through a watch of its own: all that a permission for this one name allows, and nothing is polled. */
import { type Clock, isOlder, type KubeClient, reflect } from '@keelson/kube';
import type { Kind, KubeObject, Ref } from '@keelson/schema';

export interface FollowOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly kind: Kind<T>;
  readonly ref: Ref;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The object as it is now; undefined when it does not exist. */
  readonly onState: (object: T | undefined) => void;
  /** Why nothing is heard at the moment; undefined when it is heard again. */
  readonly onTrouble: (message: string | undefined) => void;
}

/** Reports every state of the object until the signal is aborted. */
export async function follow<T extends KubeObject>({
  client,
  kind,
  ref,
  clock,
  signal,
  onState,
  onTrouble,
}: FollowOptions<T>): Promise<void> {
  const selection = {
    ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }),
    fieldSelector: `metadata.name=${ref.name}`,
  };
  for await (const state of reflect(client, kind, { ...selection, clock, signal })) {
    if (state.state === 'interrupted') onTrouble(state.fault.message);
    else if (state.state === 'watching') onTrouble(undefined);
    else if (state.state === 'replaced') onState(state.items.find(({ metadata }) => metadata.name === ref.name));
    else if (state.state === 'changed') onState(state.type === 'DELETED' ? undefined : state.object);
  }
}

/** True when `news` is older than what is known already: the answer to a write may be ahead of the watch. */
export function isStale(news: KubeObject | undefined, known: KubeObject | undefined | 'unheard'): boolean {
  if (news === undefined || known === undefined || known === 'unheard' || news.metadata.uid !== known.metadata.uid)
    return false;
  return isOlder(news.metadata.resourceVersion ?? '', known.metadata.resourceVersion ?? '');
}
