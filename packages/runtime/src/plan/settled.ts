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
  /** Takes note of what still differs after an apply. */
  remember(live: KubeObject, wanted: KubeObject, left: readonly Change[]): void;
  /** True when exactly this was left over when exactly this was applied. */
  covers(live: KubeObject, wanted: KubeObject, changes: readonly Change[]): boolean;
  forget(live: KubeObject): void;
  readonly size: number;
}

export function createSettled(): Settled {
  // By uid: an object that is made anew is another one. Only objects that the server rewrites are in here.
  const known = new Map<string, { wanted: string; left: string }>();
  return {
    remember(live, wanted, left) {
      const { uid } = live.metadata;
      if (uid === undefined) return;
      if (left.length === 0) known.delete(uid);
      else known.set(uid, { wanted: digest(wanted), left: digest(left) });
    },
    covers(live, wanted, changes) {
      const entry = known.get(live.metadata.uid ?? '');
      return entry !== undefined && entry.left === digest(changes) && entry.wanted === digest(wanted);
    },
    forget(live) {
      known.delete(live.metadata.uid ?? '');
    },
    get size() {
      return known.size;
    },
  };
}
