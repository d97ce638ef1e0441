/**
 * Whose is it? Decides from the marks on a live object whether we may touch it. The only place that answers this question,
 * for the plan (from the cache), for the executor (from a fresh read) and for `keelson plan`.
 */
import type { Kind, KubeObject } from '@keelson/schema';
import { marks, type Owner, ownerText } from '../marks.ts';
import { objectText } from './wanted.ts';

export type Ownership =
  | { readonly whose: 'ours' }
  /** It belongs to nobody in particular, or to somebody who has to give way because it was named for adoption. */
  | { readonly whose: 'adopted'; readonly from: string }
  | { readonly whose: 'foreign'; readonly because: string };

/** Tells whether the instance with this uid, of the resource and in the namespace of the owner that asks, is there. */
export type Lives = (uid: string) => boolean;

/** Whether this owner may write to this live object. */
export function ownershipOf(kind: Kind, live: KubeObject, owner: Owner, adopt: boolean, lives: Lives): Ownership {
  const labels = live.metadata.labels ?? {};
  const controller = live.metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (controller?.uid === owner.uid) return { whose: 'ours' };
  const marked = labels[marks.operator] === owner.fieldManager;
  if (marked && labels[marks.ownerUid] === owner.uid && controller === undefined) return { whose: 'ours' };
  // A policy took a part of the marks off; the apply that follows finds out and says so.
  const named = live.metadata.annotations?.[marks.owner] === ownerText(owner);
  if (named && labels[marks.ownerUid] === owner.uid && controller === undefined) return { whose: 'ours' };
  // Left by a former incarnation of this very instance (deleted and made anew, or restored from a backup): a name is
  // held by one instance at a time, so nobody else can lay claim to it.
  if (marked && named && (controller === undefined || controller.uid === labels[marks.ownerUid]))
    return { whose: 'ours' };

  const holder = holderOf(live);
  if (!adopt) {
    return {
      whose: 'foreign',
      because:
        `${objectText(kind, live)} exists and ${holder}: give the child another name, delete the object, ` +
        'or name it for adoption',
    };
  }
  if (controller !== undefined) {
    return {
      whose: 'foreign',
      because: `${objectText(kind, live)} cannot be adopted because it ${holder}: an object has one controller only`,
    };
  }
  // Two that adopt one object would take it from each other for ever.
  if (labels[marks.ownerUid] !== undefined && !isLeftBehind(live, owner, lives)) {
    return {
      whose: 'foreign',
      because:
        `${objectText(kind, live)} cannot be adopted because it ${holder} by its label ${marks.ownerUid}: ` +
        'let that owner no longer want it, or remove the label if that owner is gone for good',
    };
  }
  return { whose: 'adopted', from: holder };
}

/** True when the marks name an owner that is certainly gone: we see every instance of our own resource in our own namespace, and no others. */
function isLeftBehind(live: KubeObject, owner: Owner, lives: Lives): boolean {
  const { labels = {}, annotations = {} } = live.metadata;
  const neighbourhood = ownerText({ ...owner, name: '' });
  const isNeighbour =
    labels[marks.operator] === owner.fieldManager && annotations[marks.owner]?.startsWith(neighbourhood) === true;
  return isNeighbour && !lives(labels[marks.ownerUid] ?? '');
}

/** `is controlled by ReplicaSet web-1`, as the end of a sentence about a live object. */
export function holderOf(live: KubeObject): string {
  const controller = live.metadata.ownerReferences?.find((reference) => reference.controller === true);
  const owner = live.metadata.annotations?.[marks.owner];
  const labels = live.metadata.labels ?? {};
  const manager = labels[marks.operator] ?? labels[marks.managedBy];
  if (owner !== undefined && manager !== undefined) return `belongs to ${owner} (${manager})`;
  if (controller !== undefined) return `is controlled by ${controller.kind} ${controller.name}`;
  if (manager !== undefined) return `is managed by ${manager}`;
  const writers = new Set(live.metadata.managedFields?.flatMap((entry) => entry.manager ?? []));
  return writers.size === 0 ? 'is not ours' : `was written by ${[...writers].join(', ')}`;
}
