/** Reviews an instance offline, as the API server would have it reviewed: for `keelson render`, `keelson plan` and tests. */
import { type KubeObject, parseInstance, type Resource, unknownFields } from '@keelson/schema';
import type { Operation, Problem, Review } from './admission.ts';
import { message } from './answer.ts';
import type { Reviewed } from './review.ts';
import { mutatedSpec, verdictOn } from './review.ts';

export interface ReviewedInstance {
  /** As it would be stored: in the stored version, with defaults and with the spec that `mutate` returned. As given when it breaks the schema. */
  readonly object: KubeObject;
  /** Empty when it would be let in (by the schema and the operator: CEL rules are the server's alone). */
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/** Checks the schema, runs `mutate`, checks the schema again, and runs `validate`. Pure; a function that throws becomes a problem. */
export function reviewInstance(
  operator: Reviewed,
  object: KubeObject,
  options: { operation?: Operation; old?: KubeObject; user?: Review<Resource>['user'] } = {},
): ReviewedInstance {
  const { old, user = { username: '', groups: [] } } = options;
  const operation = options.operation ?? (old === undefined ? 'CREATE' : 'UPDATE');
  const request = { operation, user, ...(old === undefined ? {} : { old: structuredClone(old) }) };
  let task = 'conversion';
  try {
    const given = parseInstance(operator.resource, object);
    if (!given.ok) return { object, problems: given.problems, warnings: [] };
    // Another version is another shape: what its conversion leaves out is no mistake of the user's.
    const unknown = object.apiVersion === given.instance.apiVersion ? unknownFields(object, given.instance) : [];
    if (unknown.length > 0) return { object, problems: unknown, warnings: [] };
    task = 'mutate';
    const spec = mutatedSpec(operator, { ...request, object: given.instance });
    const mutated = parseInstance(operator.resource, { ...given.instance, spec });
    if (!mutated.ok) return { object: { ...given.instance, spec }, problems: mutated.problems, warnings: [] };
    task = 'validate';
    return { object: mutated.instance, ...verdictOn(operator, { ...request, object: mutated.instance }) };
  } catch (error) {
    const text = `the ${task} function of operator '${operator.name}' failed: ${message(error)}`;
    return { object, problems: [{ path: '', message: text }], warnings: [] };
  }
}
