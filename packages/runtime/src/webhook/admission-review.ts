/**
 * The AdmissionReview protocol (admission.k8s.io/v1): what the API server sends and what it gets back, as a pure function.
 * A function of an operator that throws gives a refusal with a message; a request that is no review gives a 400.
 */
import type { KubeObject } from '@keelson/schema';
import { isMap } from '../plan/value.ts';
import type { Answer } from './answer.ts';
import { badRequest, message } from './answer.ts';
import { toJsonPatch } from './json-patch.ts';
import type { Reviewed, ReviewRequest } from './review.ts';
import { mutatedSpec, toText, verdictOn } from './review.ts';

interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly operation: string;
  readonly subResource?: string;
  readonly object?: KubeObject | null;
  readonly oldObject?: KubeObject | null;
  readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] };
}

/** Answers one AdmissionReview for an operator. */
export function answerAdmission(operator: Reviewed, task: 'validate' | 'mutate', body: unknown): Answer {
  const request = readRequest(operator, body);
  if (typeof request === 'string') return badRequest(request);
  const { uid } = request;
  const review = toReviewRequest(request);
  if (review === undefined) return allowed(uid);
  try {
    return task === 'validate' ? validation(operator, uid, review) : mutation(operator, uid, review);
  } catch (error) {
    const text = `the ${task} function of operator '${operator.name}' failed on ${nameOf(review.object)}: ${message(error)}. This is a bug in the operator: see its log`;
    return { ...denied(uid, { code: 500, reason: 'InternalError', message: text }), threw: error };
  }
}

function validation(operator: Reviewed, uid: string, review: ReviewRequest): Answer {
  const { problems, warnings } = verdictOn(operator, review);
  if (problems.length === 0) return allowed(uid, { warnings });
  const { name, generateName } = review.object.metadata;
  const status = {
    code: 422,
    reason: 'Invalid',
    message: problems.map(toText).join('; '),
    details: {
      group: operator.resource.group,
      kind: operator.resource.kind,
      name: name ?? generateName,
      causes: problems.map(({ path, message }) => ({ reason: 'FieldValueInvalid', field: path, message })),
    },
  };
  return denied(uid, status, warnings);
}

function mutation(operator: Reviewed, uid: string, review: ReviewRequest): Answer {
  const spec = mutatedSpec(operator, review);
  const current = review.object.spec;
  const operations =
    current === undefined && spec !== undefined
      ? [{ op: 'add', path: '/spec', value: spec }]
      : toJsonPatch(current, spec, '/spec');
  if (operations.length === 0) return allowed(uid);
  return allowed(uid, { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') });
}

/** The request in a review of this operator's resource, or what is wrong with it. */
function readRequest(operator: Reviewed, body: unknown): AdmissionRequest | string {
  if (!isMap(body) || body.kind !== 'AdmissionReview' || body.apiVersion !== 'admission.k8s.io/v1') {
    return 'the body must be an AdmissionReview of admission.k8s.io/v1';
  }
  const request = body.request;
  if (!isMap(request)) return 'the AdmissionReview has no request';
  if (typeof request.uid !== 'string' || request.uid === '') return 'request.uid is missing';
  if (typeof request.operation !== 'string') return 'request.operation is missing';
  const { kind, group, version } = operator.resource;
  const asked = isMap(request.kind) ? request.kind : {};
  if (asked.kind !== kind || asked.group !== group || asked.version !== version) {
    return `this webhook is for ${kind} of ${group}/${version}, but the request is about ${asked.kind} of ${asked.group}/${asked.version}: check the rules and matchPolicy of the webhook configuration`;
  }
  const expected = request.operation === 'DELETE' ? 'oldObject' : 'object';
  if (['CREATE', 'UPDATE', 'DELETE'].includes(request.operation) && !isObject(request[expected])) {
    return `request.${expected} is missing or is no Kubernetes object`;
  }
  return request as unknown as AdmissionRequest;
}

/** What there is to review; undefined when the request is of a kind that is not ours to judge. */
function toReviewRequest(request: AdmissionRequest): ReviewRequest | undefined {
  const { operation, object, oldObject, userInfo } = request;
  // A write to /status or /scale is not about the instance as its author wrote it.
  if (request.subResource !== undefined && request.subResource !== '') return undefined;
  const subject = operation === 'DELETE' ? oldObject : object;
  if (
    (operation !== 'CREATE' && operation !== 'UPDATE' && operation !== 'DELETE') ||
    subject === null ||
    subject === undefined
  )
    return undefined;
  return {
    operation,
    object: subject,
    ...(isObject(oldObject) ? { old: oldObject } : {}),
    user: { username: userInfo?.username ?? '', groups: userInfo?.groups ?? [] },
  };
}

function isObject(value: unknown): value is KubeObject {
  return isMap(value) && isMap(value.metadata);
}

function allowed(
  uid: string,
  extra: { warnings?: readonly string[]; patchType?: string; patch?: string } = {},
): Answer {
  const { warnings = [], ...patch } = extra;
  return review({ uid, allowed: true, ...patch, ...withWarnings(warnings) });
}

function denied(
  uid: string,
  status: { code: number; reason: string; message: string; details?: unknown },
  warnings: readonly string[] = [],
): Answer {
  return review({
    uid,
    allowed: false,
    status: { metadata: {}, status: 'Failure', ...status },
    ...withWarnings(warnings),
  });
}

/** Warnings travel as HTTP headers: a line break would make the API server drop them. */
function withWarnings(warnings: readonly string[]): { warnings?: string[] } {
  return warnings.length === 0
    ? {}
    : { warnings: warnings.map((warning) => String(warning).replace(/\s+/g, ' ').trim()) };
}

function review(response: unknown): Answer {
  return { code: 200, body: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response } };
}

function nameOf({ kind, metadata }: KubeObject): string {
  const name = metadata.name ?? `${metadata.generateName ?? ''}…`;
  return metadata.namespace === undefined ? `${kind} ${name}` : `${kind} ${metadata.namespace}/${name}`;
}
