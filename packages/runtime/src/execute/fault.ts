/** Puts a fault into words for the user: which object, what the server said, and what to do about it. */
import { Fault, type FaultCode, isFault, type Retry } from '@keelson/kube';

const remedies: Partial<Readonly<Record<FaultCode, string>>> = {
  Forbidden: "grant it to the operator's ServiceAccount: `keelson rbac` prints the rules it needs",
  Unauthorized: "check the operator's credentials",
  CredentialsFailed: "check the operator's credentials",
  KindNotServed: 'install what defines this kind; the operator goes on by itself then',
  Invalid:
    'the API server refuses the object that follows from this spec: correct the spec, or report it to the authors of the operator',
  BadRequest:
    'the API server does not understand the object that follows from this spec: report it to the authors of the operator',
  RequestEntityTooLarge: 'the object that follows from this spec is too large: make the spec smaller',
  MarksChanged:
    'Keelson knows its objects by this label, and a mutating webhook or policy of the cluster changes it: exempt labels of keelson.io from it',
  ApplyConflict: 'another field manager holds fields of it: see its metadata.managedFields',
};

/** The same fault, with a message that names what was being done and the remedy. */
export function explainFault(error: unknown, doing: string): unknown {
  if (!isFault(error)) return error;
  // We name the object by its uid; the server says that this field cannot change when another one has its place.
  if (error.code === 'Invalid' && /metadata\.uid: Invalid value/.test(error.message)) {
    return new Fault('Conflict', `could not ${doing}: it was deleted and made anew meanwhile`, error.details, error);
  }
  const remedy = isImmutable(error)
    ? 'this field cannot be changed on an existing object: delete the object, and it is made anew as wanted'
    : remedies[error.code];
  if (/field not declared in schema/.test(error.message)) {
    const outdated = `could not ${doing}: ${error.message} (the definition of this kind that is installed in the cluster lacks the field: install the one that this operator was made for)`;
    return new Fault('KindNotServed', outdated, error.details, error);
  }
  const message = `could not ${doing}: ${error.message}${remedy === undefined ? '' : ` (${remedy})`}`;
  return new Fault(error.code, message, error.details, error);
}

/** How the API server and CEL rules say that a field cannot change on an existing object. */
const unchangeable = /immutable|may not be (changed|updated)|cannot change|forbidden: updates/i;

/** True when this is all that the server has against a change: made anew, the object would be as wanted. */
export function isImmutable(error: unknown): boolean {
  if (!isFault(error, 'Invalid')) return false;
  const causes = error.details.causes ?? [];
  // A uid that differs means that another object has its place.
  if (causes.some(({ field }) => field === 'metadata.uid')) return false;
  return causes.length === 0
    ? unchangeable.test(error.message)
    : causes.every(({ message = '' }) => unchangeable.test(message));
}

/** True for a fault that has nothing to do with what was asked: everything else would fail the same way. */
export function isOfTheServer(fault: Fault): boolean {
  return isFault(
    fault,
    'Unreachable',
    'TlsRefused',
    'Unauthorized',
    'CredentialsFailed',
    'TooManyRequests',
    'LeaseLost',
    'BadConfig',
  );
}

const soonestFirst: readonly Retry[] = ['exit', 'backoff', 'slow', 'never'];

/** The fault by which to try again: the one that may pass soonest, so that no other keeps it waiting. */
export function soonestOf(faults: readonly Fault[]): Fault | undefined {
  return byRetry(faults)[0];
}

/** The fault to tell of: the one that will not pass by itself, if there is one. */
export function gravestOf(faults: readonly Fault[]): Fault | undefined {
  return byRetry(faults).at(-1);
}

function byRetry(faults: readonly Fault[]): readonly Fault[] {
  return faults.toSorted((a, b) => soonestFirst.indexOf(a.retry) - soonestFirst.indexOf(b.retry));
}
