/** Puts a fault into words for the user: which object, what the server said, and what to do about it. */
import { Fault, type FaultCode, isFault } from '@keelson/kube';

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
  ApplyConflict: 'another field manager holds fields of it: see its metadata.managedFields',
};

/** The same fault, with a message that names what was being done and the remedy. */
export function explainFault(error: unknown, doing: string): unknown {
  if (!isFault(error)) return error;
  // We name the object by its uid; the server says that this field cannot change when another one has its place.
  if (error.code === 'Invalid' && /metadata\.uid: Invalid value/.test(error.message)) {
    return new Fault('Conflict', `could not ${doing}: it was deleted and made anew meanwhile`, error.details, error);
  }
  const immutable =
    error.code === 'Invalid' && /immutable|may not be (changed|updated)|forbidden: updates/i.test(error.message);
  const remedy = immutable
    ? 'this field cannot be changed on an existing object: delete the object, and it is made anew as wanted'
    : remedies[error.code];
  if (/field not declared in schema/.test(error.message)) {
    const outdated = `could not ${doing}: ${error.message} (the definition of this kind that is installed in the cluster lacks the field: install the one that this operator was made for)`;
    return new Fault('KindNotServed', outdated, error.details, error);
  }
  const message = `could not ${doing}: ${error.message}${remedy === undefined ? '' : ` (${remedy})`}`;
  return new Fault(error.code, message, error.details, error);
}
