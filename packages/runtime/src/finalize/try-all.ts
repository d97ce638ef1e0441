/** Goes through children, each for itself: one that fails keeps none of the others from being dealt with. */
import { Fault, isFault } from '@keelson/kube';
import { explainFault, isOfTheServer, soonestOf } from '../execute/fault.ts';
import type { Child } from '../plan/plan.ts';
import { objectText } from '../plan/wanted.ts';
import type { Turn } from '../reconciler/turn.ts';
import { listed } from '../status/judge.ts';

/** Does this to every child; throws afterwards, as one fault, what failed. `doing` is a verb for people. */
export async function tryAll(
  turn: Turn,
  children: readonly Child[],
  doing: string,
  work: (child: Child) => Promise<void>,
): Promise<void> {
  const faults: Fault[] = [];
  for (const child of children) {
    turn.signal.throwIfAborted();
    try {
      await work(child);
    } catch (error) {
      const fault = explainFault(error, `${doing} ${objectText(child.kind, child.live.object)}`);
      if (!isFault(fault) || isOfTheServer(fault) || turn.signal.aborted) throw fault;
      faults.push(fault);
    }
  }
  const first = soonestOf(faults);
  if (first !== undefined)
    throw new Fault(first.code, listed(faults.map(({ message }) => message)), first.details, first);
}
