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
  | ({ readonly whose: 'foreign' } & Foreign);

/** Why an object is not ours to write to: as a sentence about it, and as the end of one about several of which the same is true. */
export interface Foreign {
  /** `ConfigMap shop/web exists already and belongs to …` */
  readonly because: string;
  /** `exist already and belong to …` */
  readonly together: string;
}

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

  const text = objectText(kind, live);
  const foreign = (say: (holder: Holder, number: Numerus) => string): Ownership => ({
    whose: 'foreign',
    because: `${text} ${say(holderOf(live, owner, one), one)}; ${then}`,
    together: `${say(holderOf(live, owner, many), many)}; ${then}`,
  });
  if (!adopt) {
    return foreign(
      ({ words, remedy }, { exists, it, is }) => `${exists} already and ${words}, so ${it} ${is} left alone: ${remedy}`,
    );
  }
  if (controller !== undefined) {
    return foreign(
      ({ words, remedy }, { it }) =>
        `cannot be taken over because ${it} ${words}, and an object has one controller only: ${remedy}`,
    );
  }
  // Two that adopt one object would take it from each other for ever.
  if (labels[marks.ownerUid] !== undefined && !isLeftBehind(live, owner, lives)) {
    return foreign(
      ({ words, remedy }, { it, its }) =>
        `cannot be taken over because ${it} ${words}: ${remedy}, ` +
        `or remove ${its} label ${marks.ownerUid} if that owner is gone for good`,
    );
  }
  return { whose: 'adopted', from: holderOf(live, owner, one).words };
}

/** The words of a sentence that change with the number of objects that it is about. */
interface Numerus {
  readonly exists: string;
  readonly belongs: string;
  readonly is: string;
  readonly was: string;
  readonly it: string;
  readonly them: string;
  readonly its: string;
}

const one: Numerus = { exists: 'exists', belongs: 'belongs', is: 'is', was: 'was', it: 'it', them: 'it', its: 'its' };
const many: Numerus = {
  exists: 'exist',
  belongs: 'belong',
  is: 'are',
  was: 'were',
  it: 'they',
  them: 'them',
  its: 'their',
};

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

function holderOf(live: KubeObject, asking: Owner, { belongs, is, was, them, its }: Numerus): Holder {
  const { labels = {}, annotations = {}, ownerReferences, managedFields } = live.metadata;
  const controller = ownerReferences?.find((reference) => reference.controller === true);
  const manager = labels[marks.operator] ?? labels[marks.managedBy];
  const renamed = `give this ${asking.kind.kind} another name${asking.namespace === undefined ? '' : ' or namespace'}`;
  const owner = annotations[marks.owner];
  if (owner !== undefined && manager !== undefined) {
    const named = ownerName(owner);
    return { words: `${belongs} to ${named}`, remedy: `delete or change ${named}, or ${renamed}` };
  }
  if (controller !== undefined) {
    const named = `${controller.kind} ${controller.name}`;
    return { words: `${is} controlled by ${named}`, remedy: `delete ${named}, or ${renamed}` };
  }
  const writers = new Set(managedFields?.flatMap((entry) => entry.manager ?? []));
  if (writers.has(asking.fieldManager) && (manager === undefined || manager === asking.fieldManager)) {
    const takeOver = `the label ${marks.operator}=${asking.fieldManager} and the annotation ${marks.owner}=${ownerText(asking)}`;
    return {
      words: `${was} left behind by an instance that was deleted with the orphan policy, or somebody removed ${its} marks`,
      remedy: `delete ${them} if nobody needs ${them}, or give ${them} ${takeOver} to have ${them} taken over`,
    };
  }
  if (manager !== undefined) {
    const release = annotations['meta.helm.sh/release-name'];
    const named = release === undefined ? manager : `${manager} (release ${release})`;
    return { words: `${is} managed by ${named}`, remedy: `remove ${them} there, or ${renamed}` };
  }
  const words = writers.size === 0 ? `${was} made by somebody else` : `${was} written by ${[...writers].join(', ')}`;
  return { words, remedy: `delete ${them} if nobody needs ${them}, or ${renamed}` };
}

/** The owner that an annotation names, as people call it: `Website/shop/front` is `Website shop/front`. */
export function ownerName(owner: string): string {
  return owner.replace('/', ' ');
}
