/**
 * The plan: what must change so that the cluster is as decided. Pure, and the only place that compares.
 *
 * Invariants: planning what was just applied gives no step; the order of the inputs does not matter; nothing is ever deleted
 * that does not carry our marks and the owner's uid; an object of somebody else is refused, not taken; an object that is being
 * deleted is left alone until it is gone.
 *
 * Called by the reconciler with what the caches hold, and by `keelson plan` with what it read.
 */
import type { Kind, KubeObject, Ref } from '@keelson/schema';
import type { Live } from '../cache/store.ts';
import { isMarked, type Owner } from '../marks.ts';
import { becauseOf, redactChanges, replacesPods } from './because.ts';
import { type Difference, differencesAt, toChange } from './compare.ts';
import { takenBy } from './holders.ts';
import { compareApplyOrder } from './order.ts';
import { type Foreign, type Lives, ownerName, ownershipOf } from './ownership.ts';
import type { Settled } from './settled.ts';
import { objectKey, objectText, type Wanted } from './wanted.ts';

/** One field that differs. */
export interface Change {
  /** `spec.template.spec.containers[name=web].image` */
  readonly path: string;
  readonly from: unknown;
  readonly to: unknown;
  /**
   * Who made it differ, where it was taken from us: the field managers that hold it now, or `somebody else` when it was ours and
   * the cluster does not tell. Left out for what we want anew.
   */
  readonly by?: string;
}

/** To be made. Whether it is really not there is asked again right before: the cache holds only what is marked. */
export interface CreateStep {
  readonly action: 'create';
  readonly kind: Kind;
  readonly object: KubeObject;
  readonly because: string;
  /** It was there, and somebody else deleted it; as far as this process knows. */
  readonly again: boolean;
  /** Named for adoption: if it exists and nobody controls it, it is taken over. */
  readonly adopt: boolean;
}

export interface ChangeStep {
  readonly action: 'change';
  readonly kind: Kind;
  readonly object: KubeObject;
  readonly live: KubeObject;
  /** Values of Secrets are redacted. */
  readonly changes: readonly Change[];
  readonly because: string;
  /** The pod template differs: pods will be replaced. */
  readonly restarts: boolean;
}

export interface DeleteStep {
  readonly action: 'delete';
  readonly kind: Kind;
  readonly live: KubeObject;
  readonly because: string;
}

export type Step = CreateStep | ChangeStep | DeleteStep;

/** A wanted object that belongs to somebody else. */
export interface Refusal extends Foreign {
  readonly kind: Kind;
  readonly object: KubeObject;
}

/** A child that is being deleted and still there. */
export interface Leaving {
  readonly kind: Kind;
  readonly live: KubeObject;
  /** It will be made anew once it is gone. */
  readonly wanted: boolean;
}

export interface Plan {
  /** In the order in which they are carried out. */
  readonly steps: readonly Step[];
  readonly refusals: readonly Refusal[];
  readonly leaving: readonly Leaving[];
}

/** A live object and its kind. */
export interface Child {
  readonly kind: Kind;
  readonly live: Live;
}

export interface PlanInput {
  readonly owner: Owner;
  /** From `toWanted`. */
  readonly wanted: readonly Wanted[];
  /** What carries the owner's uid now. */
  readonly owned: readonly Child[];
  /** The live object in the place of a wanted one, whoever it belongs to, as far as it is known. */
  readonly find: (kind: Kind, ref: Ref) => Live | undefined;
  readonly adopt?: readonly (Ref & { readonly kind: Kind })[];
  /** What is not wanted and stays as it is all the same. */
  readonly keep?: readonly (Ref & { readonly kind: Kind })[];
  /** Whose marks still count when something is adopted; without it, everybody's do. */
  readonly lives?: Lives;
  /** Another instance that wants the same object and was first, where nothing is there to tell by its marks. */
  readonly claimedBy?: (key: string) => string | undefined;
  /** True when this object has been there before, as far as this process knows. */
  readonly wasThere?: (key: string) => boolean;
  readonly settled?: Settled;
}

/** Plans one instance. */
export function planInstance(input: PlanInput): Plan {
  const { owner } = input;
  const steps: Step[] = [];
  const refusals: Refusal[] = [];
  const leaving: Leaving[] = [];
  const adopted = new Set(input.adopt?.map((ref) => keyBeside(owner, ref)));
  const staying = new Set(input.keep?.map((ref) => keyBeside(owner, ref)));

  const inApplyOrder = [...input.wanted].sort((a, b) =>
    compareApplyOrder(placeOf(a.kind, a.object), placeOf(b.kind, b.object)),
  );
  for (const wanted of inApplyOrder) {
    const { kind, object } = wanted;
    const key = objectKey(kind, object.metadata);
    staying.add(key);
    const live = input.find(kind, object.metadata);
    const adopt = adopted.has(key);
    if (live === undefined) {
      const holder = input.claimedBy?.(key);
      if (holder !== undefined) {
        const other = ownerName(holder);
        const why = `wanted by ${other} too, which was first: change one of the two, or delete ${other}`;
        refusals.push({ kind, object, because: `${objectText(kind, object)} is ${why}`, together: `are ${why}` });
        continue;
      }
      const again = input.wasThere?.(key) === true;
      const because = again ? 'deleted by somebody else' : 'missing';
      steps.push({ action: 'create', kind, object, because, again, adopt });
      continue;
    }
    const ownership = ownershipOf(kind, live.object, owner, adopt, input.lives ?? (() => true));
    if (ownership.whose === 'foreign') refusals.push(toRefusal(kind, object, ownership));
    else if (live.object.metadata.deletionTimestamp !== undefined)
      leaving.push({ kind, live: live.object, wanted: true });
    else {
      const step = toStep(wanted, live, owner, input.settled);
      if (step !== undefined) steps.push(step);
    }
  }

  const unwanted = input.owned
    .filter(({ kind, live }) => !staying.has(objectKey(kind, live.object.metadata)) && isMarked(live.object, owner))
    .sort((a, b) => compareApplyOrder(placeOf(b.kind, b.live.object), placeOf(a.kind, a.live.object)));
  for (const { kind, live } of unwanted) {
    if (live.object.metadata.deletionTimestamp !== undefined) leaving.push({ kind, live: live.object, wanted: false });
    else steps.push({ action: 'delete', kind, live: live.object, because: 'no longer wanted' });
  }
  return { steps, refusals, leaving };
}

/** The refusal to write to an object, for the reason why it is not ours. */
export function toRefusal(kind: Kind, object: KubeObject, { because, together }: Foreign): Refusal {
  return { kind, object, because, together };
}

/** The step that makes a live object as it is wanted; undefined when it is already. */
export function toStep(
  wanted: Pick<Wanted, 'kind' | 'object'>,
  live: Live,
  owner: Owner,
  settled?: Settled,
): ChangeStep | undefined {
  const { kind, object } = wanted;
  const found = differencesAt(object, live, owner.fieldManager);
  const changes = found.map(toChange);
  if (changes.length === 0 || settled?.covers(owner.uid, live.object, object, changes) === true) return undefined;
  const shown = redactChanges(
    kind,
    found.map((difference) => attribute(difference, live)),
  );
  return {
    action: 'change',
    kind,
    object,
    live: live.object,
    changes: shown,
    because: becauseOf(shown),
    restarts: replacesPods(kind, live.object, changes),
  };
}

function attribute(difference: Difference, live: Live): Change {
  const change = toChange(difference);
  const by = takenBy(live, difference.path);
  return by === undefined ? change : { ...change, by };
}

/** A reference that names no namespace means that of the owner. */
function keyBeside(owner: Owner, ref: Ref & { readonly kind: Kind }): string {
  return objectKey(ref.kind, { ...ref, namespace: ref.namespace ?? owner.namespace });
}

function placeOf(kind: Kind, object: KubeObject) {
  return { kind, name: object.metadata.name, namespace: object.metadata.namespace };
}
