/**
 * Runs an operator's admission functions on one instance: the same code behind the API server's calls and offline.
 *
 * Invariant: an instance that nobody has touched is never reviewed again. When neither the spec nor labels or annotations
 * changed (a finalizer came or went, the status moved), or when only metadata changed on an instance that is being deleted,
 * the functions are not asked: a rule that came later than the instance cannot keep it from being finalized and deleted.
 * And nobody is refused for what he did not do: when the spec is as it was, `mutate` leaves it so and what `validate` has against
 * it is a warning, as it is when the instance is on its way out; only what it has against the metadata still refuses.
 */
import { type Instance, type KubeObject, parseInstance, type Resource } from '@keelson/schema';
import type { Operator } from '../operator.ts';
import { freeze, isMap, isSame } from '../plan/value.ts';
import type { Operation, Problem, Review, Verdict } from './admission.ts';

/** An operator as far as admission goes. */
export type Reviewed = Pick<Operator, 'name' | 'resource' | 'admission'>;

export interface ReviewRequest {
  readonly operation: Operation;
  readonly object: KubeObject;
  readonly old?: KubeObject;
  readonly user: Review<Resource>['user'];
}

/** The spec as the operator's `mutate` wants it stored; the one it has when there is nothing to ask. */
export function mutatedSpec(operator: Reviewed, request: ReviewRequest): unknown {
  const { admission, resource } = operator;
  if (admission?.mutate === undefined || request.operation === 'DELETE' || hasOldSpec(request))
    return request.object.spec;
  // The API server checks the schema after mutation: it will say better than we could what is wrong with this one.
  if (!parseInstance(resource, request.object).ok) return request.object.spec;
  const spec: unknown = admission.mutate(toReview(request));
  if (!isMap(spec) || isPromise(spec)) throw new TypeError(`it returned ${nameOf(spec)} instead of a spec`);
  return JSON.parse(JSON.stringify(spec));
}

/** What the operator's `validate` says; nothing when there is nothing to ask. */
export function verdictOn(operator: Reviewed, request: ReviewRequest): Required<Verdict> {
  const { admission } = operator;
  if (admission?.validate === undefined || isUntouched(request)) return { problems: [], warnings: [] };
  const verdict: unknown = admission.validate(toReview(request));
  if (!isMap(verdict) || isPromise(verdict)) throw new TypeError(`it returned ${nameOf(verdict)} instead of a verdict`);
  const { problems = [], warnings = [] } = verdict as Verdict;
  const excuse = excuseOf(request);
  if (excuse === undefined) return { problems, warnings };
  const excused = problems.filter((problem) => !isOfMetadata(problem));
  return {
    problems: problems.filter(isOfMetadata),
    warnings: [...warnings, ...excused.map((problem) => `${toText(problem)} (${excuse})`)],
  };
}

/** `spec.replicas: must be at least 1` */
export function toText({ path, message }: Problem): string {
  return path === '' ? message : `${path}: ${message}`;
}

/** True when nothing changed that its author writes. */
function isUntouched({ operation, object, old }: ReviewRequest): boolean {
  if (old === undefined || !hasOldSpec({ operation, object, old })) return false;
  if (object.metadata.deletionTimestamp !== undefined) return true;
  return (
    isSame(object.metadata.labels, old.metadata.labels) && isSame(object.metadata.annotations, old.metadata.annotations)
  );
}

/** True when the spec is not what is being changed. */
function hasOldSpec({ operation, object, old }: Pick<ReviewRequest, 'operation' | 'object' | 'old'>): boolean {
  return operation === 'UPDATE' && old !== undefined && isSame(object.spec, old.spec);
}

/** Why a bad spec is let through; undefined when it is not. */
function excuseOf(request: ReviewRequest): string | undefined {
  if (request.operation !== 'UPDATE') return undefined;
  if (request.object.metadata.deletionTimestamp !== undefined) return 'let through because it is being deleted';
  return hasOldSpec(request)
    ? 'let through because the spec was so before; its next change must correct it'
    : undefined;
}

function isOfMetadata({ path }: Problem): boolean {
  return /^metadata\b/.test(path);
}

function toReview(request: ReviewRequest): Review<Resource> {
  const { operation, object, old, user } = request;
  return freeze({
    operation,
    object: object as Instance<Resource>,
    ...(old === undefined ? {} : { old: old as Instance<Resource> }),
    user,
  });
}

function isPromise(value: unknown): boolean {
  return value instanceof Promise;
}

function nameOf(value: unknown): string {
  if (isPromise(value)) return 'a promise (admission functions are synchronous)';
  return Array.isArray(value)
    ? 'a list'
    : value === null
      ? 'null'
      : typeof value === 'object'
        ? 'an object'
        : typeof value;
}
