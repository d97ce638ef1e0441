/** Reads the answers of the API: what is not the object or list that it should be is a fault. */
import type { KubeObject } from '@keelson/schema';
import { Fault } from './fault.ts';
import { describeSubject, type Subject } from './path.ts';
import type { Answer } from './transport/api-request.ts';

export interface ListBody<T> {
  items?: T[] | null;
  metadata?: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
}

/** The answer as JSON. */
export function parse<T>(answer: Answer, subject: Subject): T {
  try {
    return JSON.parse(answer.body.toString('utf8')) as T;
  } catch (error) {
    throw notAn('object', subject, answer, error);
  }
}

/** The answer as one object. */
export function objectOf<T extends KubeObject>(answer: Answer, subject: Subject): T {
  const object = parse<T>(answer, subject);
  if (object === null || typeof object !== 'object' || typeof object.kind !== 'string')
    throw notAn('object', subject, answer);
  return object;
}

/** The answer as a list. */
export function listOf<T extends KubeObject>(answer: Answer, subject: Subject): ListBody<T> {
  const list = parse<ListBody<T>>(answer, subject);
  // A server in Go may write an empty list as null.
  if (!Array.isArray(list.items ?? [])) throw notAn('list', subject, answer);
  return list;
}

function notAn(what: string, subject: Subject, answer: Answer, cause?: unknown): Fault {
  const type = String(answer.headers['content-type'] ?? 'no content type');
  const message = `cannot ${subject.verb} ${describeSubject(subject)}: the answer is no Kubernetes ${what} (${type}); is the server URL that of an API server?`;
  return new Fault('UnexpectedAnswer', message, { status: answer.status }, cause);
}

/** True while something keeps a deleted object in being: finalizers (a Namespace has its own in the spec), or its grace period. */
export function isHeld(object: KubeObject): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds = 0 } = object.metadata;
  const own = (object.spec as { finalizers?: unknown[] } | undefined)?.finalizers;
  return (
    deletionTimestamp !== undefined &&
    (deletionGracePeriodSeconds > 0 || [finalizers, own].some((list) => (list?.length ?? 0) > 0))
  );
}
