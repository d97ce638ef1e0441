/**
 * Remembers what the server makes of what we send. Some values come back in another form than they were sent in (a default
 * inside an atomic list, a canonical date, a field that a CRD prunes or a webhook rewrites), and no comparison can know all
 * of them. Right after an apply, whatever still differs is the server's doing: as long as the same is wanted and the same
 * differs, there is nothing to do.
 *
 * Invariant: a converged object never loops, and a change by hand is still seen, because then something else differs. It is
 * lost with the process: the first look after a start applies such objects once, which changes nothing on the server.
 */
import type { KubeObject } from '@keelson/schema';
import type { Change } from './plan.ts';
import { digest } from './value.ts';

export interface Settled {
  /** Takes note of what still differs after an apply for this owner. */
  remember(ownerUid: string, live: KubeObject, wanted: KubeObject, left: readonly Change[]): void;
  /** True when exactly this was left over when exactly this was applied. */
  covers(ownerUid: string, live: KubeObject, wanted: KubeObject, changes: readonly Change[]): boolean;
  /** Forgets everything of an owner. */
  forget(ownerUid: string): void;
  readonly size: number;
}

interface Entry {
  /** An object that is made anew is another one. */
  readonly uid: string | undefined;
  readonly wanted: string;
  readonly left: string;
}

export function createSettled(): Settled {
  // Only objects that the server rewrites are in here, by owner and name.
  const known = new Map<string, Map<string, Entry>>();
  return {
    remember(ownerUid, live, wanted, left) {
      const entries = known.get(ownerUid) ?? new Map<string, Entry>();
      if (left.length === 0) entries.delete(nameOf(live));
      else entries.set(nameOf(live), { uid: live.metadata.uid, wanted: digest(wanted), left: digest(left) });
      if (entries.size === 0) known.delete(ownerUid);
      else known.set(ownerUid, entries);
    },
    covers(ownerUid, live, wanted, changes) {
      const entry = known.get(ownerUid)?.get(nameOf(live));
      return (
        entry !== undefined &&
        entry.uid === live.metadata.uid &&
        entry.left === digest(changes) &&
        entry.wanted === digest(wanted)
      );
    },
    forget: (ownerUid) => void known.delete(ownerUid),
    get size() {
      return [...known.values()].reduce((sum, entries) => sum + entries.size, 0);
    },
  };
}

function nameOf({ apiVersion, kind, metadata }: KubeObject): string {
  return `${apiVersion}/${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
}
