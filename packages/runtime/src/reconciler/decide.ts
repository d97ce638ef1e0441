/** Decide: asks the operator, and sees to it that the answer is one. Pure, as far as the operator is. */
import type { Resource } from '@keelson/schema';
import { operatorBug } from '../bug.ts';
import type { Decision } from '../decision.ts';
import type { Observed } from '../observed.ts';
import type { Operator } from '../operator.ts';
import { isMap } from '../plan/value.ts';

const outcomes = ['apply', 'wait', 'reject', 'expire'];

/** The operator's decision; an error that its code throws goes through as the bug it is. */
export function decide<R extends Resource, X>(operator: Operator<R, X>, observed: Observed<R, X>): Decision<R> {
  const decision: unknown = operator.reconcile(observed);
  if (decision instanceof Promise) {
    // Nobody will wait for it, so its failure must not end the process either.
    decision.catch(() => undefined);
    throw operatorBug(
      `reconcile of operator ${operator.name} returned a promise: it must be pure, read in observe instead`,
    );
  }
  if (!isMap(decision) || !outcomes.includes(String(decision.kind))) {
    throw operatorBug(
      `reconcile of operator ${operator.name} returned no decision: return apply({ … }), wait({ … }), reject({ … }) or expire({ … })`,
    );
  }
  if (decision.kind === 'apply' && !Array.isArray(decision.objects)) {
    throw operatorBug(
      `reconcile of operator ${operator.name} returned apply without objects: an empty list deletes all it owns`,
    );
  }
  if (decision.kind === 'expire' && operator.expires !== true) {
    throw operatorBug(
      `reconcile of operator ${operator.name} returned expire, which it has no permission for: add expires: true to it`,
    );
  }
  return decision as unknown as Decision<R>;
}
