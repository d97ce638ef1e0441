/**
 * Claims: which instance wants which object, so that two instances never fight over one. The marks on live objects say the
 * same, but only once they are written; claims close the gap in which both would find nothing there and both would make it.
 *
 * Invariant: an object is held by the first who wants it, until that one no longer does or is gone. It is lost with the
 * process; what exists by then is told apart by its marks.
 */
import type { Owner } from '../marks.ts';
import { ownerText } from '../marks.ts';

export interface Claims {
  /** Claims all of these objects for an owner and lets go of what it no longer wants; who holds the others, by object. */
  claim(owner: Owner, keys: readonly string[]): ReadonlyMap<string, string>;
  /** Takes note that an object of this owner is there. */
  saw(owner: Owner, key: string): void;
  /** Takes note that this owner itself removed an object. */
  removed(owner: Owner, key: string): void;
  /** True when an object that this owner claims has been there, and it was not this owner who removed it. */
  wasThere(owner: Owner, key: string): boolean;
  /** Lets go of everything that this owner holds. */
  release(uid: string): void;
  readonly size: number;
}

interface Claim {
  readonly uid: string;
  readonly holder: string;
  seen: boolean;
}

/** One registry serves all operators of a process. */
export function createClaims(): Claims {
  const claims = new Map<string, Claim>();
  const byOwner = new Map<string, Set<string>>();
  const drop = (key: string): void => void claims.delete(key);
  return {
    claim(owner, keys) {
      const refused = new Map<string, string>();
      const held = new Set<string>();
      for (const key of keys) {
        const claim = claims.get(key);
        if (claim !== undefined && claim.uid !== owner.uid) refused.set(key, claim.holder);
        else {
          held.add(key);
          if (claim === undefined) claims.set(key, { uid: owner.uid, holder: ownerText(owner), seen: false });
        }
      }
      for (const key of byOwner.get(owner.uid) ?? []) if (!held.has(key)) drop(key);
      if (held.size === 0) byOwner.delete(owner.uid);
      else byOwner.set(owner.uid, held);
      return refused;
    },
    saw(owner, key) {
      const claim = claims.get(key);
      if (claim?.uid === owner.uid) claim.seen = true;
    },
    removed(owner, key) {
      const claim = claims.get(key);
      if (claim?.uid === owner.uid) claim.seen = false;
    },
    wasThere(owner, key) {
      const claim = claims.get(key);
      return claim?.uid === owner.uid && claim.seen;
    },
    release(uid) {
      for (const key of byOwner.get(uid) ?? []) drop(key);
      byOwner.delete(uid);
    },
    get size() {
      return claims.size;
    },
  };
}
