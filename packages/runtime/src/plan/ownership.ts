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

  const { words, remedy } = holderOf(live, owner);
  const text = objectText(kind, live);
  if (!adopt) {
    return {
      whose: 'foreign',
      because: `${text} exists already and ${words}, so it is left alone: ${remedy}; ${then}`,
    };
  }
  if (controller !== undefined) {
    return {
      whose: 'foreign',
      because: `${text} cannot be taken over because it ${words}, and an object has one controller only: ${remedy}; ${then}`,
    };
  }
  // Two that adopt one object would take it from each other for ever.
  if (labels[marks.ownerUid] !== undefined && !isLeftBehind(live, owner, lives)) {
    return {
      whose: 'foreign',
      because:
        `${text} cannot be taken over because it ${words}: ${remedy}, ` +
        `or remove its label ${marks.ownerUid} if that owner is gone for good; ${then}`,
    };
  }
  return { whose: 'adopted', from: words };
}

/** What happens once the remedy was taken: a refusal is looked at again that often. */
const then = 'then this goes on by itself within a minute';

/** True when the marks name an owner that is certainly gone: we see every instance of our own resource in our own namespace, and no others. */
function isLeftBehind(live: KubeObject, owner: Owner, lives: Lives): boolean {
  const { labels = {}, annotations = {} } = live.metadata;
  const neighbourhood = ownerText({ ...owner, name: '' });
  const isNeighbour =
    labels[marks.operator] === owner.fieldManager && annotations[marks.owner]?.startsWith(neighbourhood) === true;
  return isNeighbour && !lives(labels[marks.ownerUid] ?? '');
}

interface Holder {
  /** `is controlled by ReplicaSet web-1`, as the end of a sentence about a live object. */
  readonly words: string;
  /** What a person with rights in the cluster can do about it. */
  readonly remedy: string;
}

function holderOf(live: KubeObject, asking: Owner): Holder {
  const { labels = {}, annotations = {}, ownerReferences, managedFields } = live.metadata;
  const controller = ownerReferences?.find((reference) => reference.controller === true);
  const manager = labels[marks.operator] ?? labels[marks.managedBy];
  const renamed = `give this ${asking.kind.kind} another name${asking.namespace === undefined ? '' : ' or namespace'}`;
  const owner = annotations[marks.owner];
  if (owner !== undefined && manager !== undefined) {
    const named = ownerName(owner);
    return { words: `belongs to ${named}`, remedy: `delete or change ${named}, or ${renamed}` };
  }
  if (controller !== undefined) {
    const named = `${controller.kind} ${controller.name}`;
    return { words: `is controlled by ${named}`, remedy: `delete ${named}, or ${renamed}` };
  }
  if (manager !== undefined) {
    const release = annotations['meta.helm.sh/release-name'];
    const named = release === undefined ? manager : `${manager} (release ${release})`;
    return { words: `is managed by ${named}`, remedy: `remove it there, or ${renamed}` };
  }
  const writers = new Set(managedFields?.flatMap((entry) => entry.manager ?? []));
  const words = writers.size === 0 ? 'was made by somebody else' : `was written by ${[...writers].join(', ')}`;
  return { words, remedy: `delete it if nobody needs it, or ${renamed}` };
}

/** The owner that an annotation names, as people call it: `Website/shop/front` is `Website shop/front`. */
export function ownerName(owner: string): string {
  return owner.replace('/', ' ');
}
