/** Reviews an instance offline, as the API server would have it reviewed: for `keelson render`, `keelson plan` and tests. */
import type { KubeObject, Resource } from '@keelson/schema';
import type { Operation, Problem, Review } from './admission.ts';
import { message } from './answer.ts';
import type { Reviewed } from './review.ts';
import { mutatedSpec, verdictOn } from './review.ts';

export interface ReviewedInstance {
  /** As it would be stored: with the spec that `mutate` returned. */
  readonly object: KubeObject;
  /** Empty when it would be let in. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/** Runs an operator's `mutate` and then `validate` on an instance. Pure; a function that throws becomes a problem. */
export function reviewInstance(
  operator: Reviewed,
  object: KubeObject,
  options: { operation?: Operation; old?: KubeObject; user?: Review<Resource>['user'] } = {},
): ReviewedInstance {
  const {
    operation = options.old === undefined ? 'CREATE' : 'UPDATE',
    old,
    user = { username: '', groups: [] },
  } = options;
  const request = { operation, ...(old === undefined ? {} : { old: structuredClone(old) }), user };
  let task = 'mutate';
  let mutated = structuredClone(object);
  try {
    const spec = mutatedSpec(operator, { ...request, object: mutated });
    mutated = spec === undefined ? mutated : { ...structuredClone(object), spec };
    task = 'validate';
    return { object: mutated, ...verdictOn(operator, { ...request, object: structuredClone(mutated) }) };
  } catch (error) {
    const text = `the ${task} function of operator '${operator.name}' failed: ${message(error)}`;
    return { object: mutated, problems: [{ path: '', message: text }], warnings: [] };
  }
}
