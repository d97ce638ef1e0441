/**
 * A store holds the objects of one kind and scope as a reflector sees them, plus what we wrote ourselves and the reflector has
 * not seen yet (read your own writes).
 *
 * Invariants: an object never goes back to an older resourceVersion; an object whose deletion we saw or made does not come back
 * unless it was created anew (another uid); a listener hears of every foreign change exactly once, also of one that our own
 * write overtook, and of our own writes only marked as such. Objects are stored without managedFields; what our field manager
 * owns is kept apart, as `fields`. Objects are shared by everybody who reads: nobody changes them.
 */
import type { Kind, KubeObject, ManagedFields, Ref } from '@keelson/schema';

/** A live object as the cache holds it. */
export interface Live<T extends KubeObject = KubeObject> {
  readonly object: T;
  /** fieldsV1 of our own Apply entry; undefined when we never applied it. */
  readonly fields?: ManagedFields['fieldsV1'];
  /** What other managers hold, but for the status; kept of what operators own. */
  readonly others?: readonly OtherFields[];
  /** What was ours before others took some of it, until we apply again; as far as this process has seen it. */
  readonly former?: ManagedFields['fieldsV1'];
}

/** The fields that another field manager holds. */
export interface OtherFields {
  readonly manager: string;
  readonly fields: NonNullable<ManagedFields['fieldsV1']>;
}

export interface StoreEvent<T extends KubeObject = KubeObject> {
  readonly type: 'set' | 'gone';
  readonly object: T;
  readonly old?: T;
  /** From the first list: nobody is waiting for it. */
  readonly initial: boolean;
  /**
   * Written through this very view: the writer knows already, others may not. When the watch is faster than the answer to our
   * write, the change is told as somebody else's first, and then once more, as our own.
   */
  readonly own: boolean;
}

export interface Store<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  readonly synced: boolean;
  readonly size: number;
  /** Resolves when the first full picture is there; rejects when the signal aborts. */
  whenSynced(signal?: AbortSignal): Promise<void>;
  get(ref: Ref): Live<T> | undefined;
  list(namespace?: string): Iterable<Live<T>>;
  /** By index: objects for which the index function gave this value. Indexes are named when the store is made. */
  by(index: string, value: string): Iterable<Live<T>>;
  /** Takes in the answer to one of our own writes. Its echo in the watch wakes nobody. */
  absorb(object: KubeObject): void;
  /** Takes in that one of our own deletions has removed the object. */
  absorbGone(object: KubeObject): void;
  /** Hears of every change from now on, in order; the returned function ends it. A listener must not throw. */
  listen(listener: (event: StoreEvent<T>) => void): () => void;
}
