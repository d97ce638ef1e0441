/**
 * Turns an error answer of the API server into a fault: the code from `Status.reason` (from the HTTP status where there is none),
 * and a message that names the object and what to do. Called for every answer of 400 and above, and for ERROR events of a watch.
 */
import { resourceNameOf } from '@keelson/schema';
import { Fault, type FaultCode, type FaultDetails } from '../fault.ts';
import { describeSubject, type Subject } from '../path.ts';

/** The parts of a meta/v1 Status that we read. */
export interface Status {
  readonly kind?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly metadata?: { readonly continue?: string };
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { reason?: string; message?: string; field?: string }[];
  };
}

export interface ErrorAnswer {
  readonly status: number;
  readonly body: string;
  readonly request: string;
  readonly subject: Subject;
  readonly server: string;
  readonly retryAfterMs?: number;
}

// Every reason of k8s.io/apimachinery/pkg/apis/meta/v1 (types.go, v1.34).
const byReason: Readonly<Record<string, FaultCode>> = {
  Unauthorized: 'Unauthorized',
  Forbidden: 'Forbidden',
  NotFound: 'NotFound',
  AlreadyExists: 'AlreadyExists',
  Conflict: 'Conflict',
  Gone: 'Gone',
  Invalid: 'Invalid',
  ServerTimeout: 'ServerTimeout',
  StoreReadError: 'InternalError',
  Timeout: 'ServerTimeout',
  TooManyRequests: 'TooManyRequests',
  BadRequest: 'BadRequest',
  MethodNotAllowed: 'MethodNotAllowed',
  NotAcceptable: 'NotAcceptable',
  RequestEntityTooLarge: 'RequestEntityTooLarge',
  UnsupportedMediaType: 'UnsupportedMediaType',
  InternalError: 'InternalError',
  Expired: 'Expired',
  ServiceUnavailable: 'ServiceUnavailable',
};

const byStatus: Readonly<Record<number, FaultCode>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  502: 'ServiceUnavailable',
  503: 'ServiceUnavailable',
  504: 'ServerTimeout',
};

/** The fault for an answer of 400 or above. */
export function toAnswerFault(answer: ErrorAnswer): Fault {
  return toStatusFault(parseStatus(answer.body), answer);
}

/** The fault for a Status that is already parsed (an ERROR event), or undefined where the body held none. */
export function toStatusFault(status: Status | undefined, answer: ErrorAnswer): Fault {
  const { subject } = answer;
  const code = codeOf(status, answer);
  const causes = status?.details?.causes;
  const seconds = status?.details?.retryAfterSeconds;
  const retryAfterMs = answer.retryAfterMs ?? (seconds === undefined ? undefined : seconds * 1000);
  const conflicts = code === 'ApplyConflict' ? conflictsOf(status) : undefined;
  const token = code === 'Expired' ? status?.metadata?.continue : undefined;
  const details: FaultDetails = {
    status: answer.status,
    request: answer.request,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(causes === undefined ? {} : { causes }),
    ...(conflicts === undefined ? {} : { conflicts }),
    ...(token === undefined || token === '' ? {} : { continue: token }),
  };
  const said = saidBy(status, answer);
  return new Fault(
    code,
    `cannot ${subject.verb} ${describeSubject(subject)}: ${explain(code, status, said, answer)}`,
    details,
  );
}

function parseStatus(body: string): Status | undefined {
  try {
    const parsed: Status | null = JSON.parse(body);
    return parsed !== null && typeof parsed === 'object' && parsed.kind === 'Status' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function codeOf(status: Status | undefined, answer: ErrorAnswer): FaultCode {
  // A path that nobody serves is answered in plain text; an object that is not there, with a Status.
  if (answer.status === 404 && status === undefined && answer.subject.kind !== undefined) return 'KindNotServed';
  if (status?.details?.causes?.some((cause) => cause.reason === 'FieldManagerConflict') === true)
    return 'ApplyConflict';
  const named = status?.reason === undefined ? undefined : byReason[status.reason];
  return named ?? byStatus[status?.code ?? answer.status] ?? byStatus[answer.status] ?? 'UnexpectedAnswer';
}

function saidBy(status: Status | undefined, answer: ErrorAnswer): string {
  const text = (status?.message ?? answer.body).trim().replace(/\s+/g, ' ');
  return text === '' ? `the server answered ${answer.status}` : text.length > 600 ? `${text.slice(0, 600)}…` : text;
}

function conflictsOf(status: Status | undefined): { manager: string; field: string }[] {
  return (status?.details?.causes ?? [])
    .filter((cause) => cause.reason === 'FieldManagerConflict')
    .map((cause) => ({
      manager: /"([^"]+)"/.exec(cause.message ?? '')?.[1] ?? 'another manager',
      field: cause.field ?? '?',
    }));
}

function explain(code: FaultCode, status: Status | undefined, said: string, answer: ErrorAnswer): string {
  const { subject } = answer;
  switch (code) {
    case 'Forbidden':
      return explainForbidden(status, said, subject);
    case 'NotFound':
      return status?.details?.kind === 'namespaces' && subject.kind?.kind !== 'Namespace'
        ? `namespace "${status.details.name}" does not exist; create it first`
        : subject.kind === undefined
          ? said
          : 'it does not exist';
    case 'KindNotServed': {
      const kind = subject.kind;
      const name = kind === undefined ? 'this kind' : `${kind.kind} (${resourceNameOf(kind)}, version ${kind.version})`;
      return `${answer.server} does not serve ${name}; install its CRD, or check group and version`;
    }
    case 'AlreadyExists':
      return 'it exists already; apply or update it instead';
    case 'Conflict':
      return `${said}${/modified|Precondition/.test(said) ? '' : '; read it again and repeat'}`;
    case 'ApplyConflict': {
      const owners = conflictsOf(status).map(({ manager, field }) => `${field} is owned by "${manager}"`);
      return `${owners.join(', ')}; leave the field out, or apply with force to take it over`;
    }
    case 'Invalid':
      return said.replace(/^.*? is invalid: /, '');
    case 'Expired':
    case 'Gone':
      return `${said}; list again from the start`;
    case 'RequestEntityTooLarge':
      return `${said}; the object is too large to be stored (etcd takes 1.5 MiB): make it smaller or split it`;
    case 'UnsupportedMediaType':
      return `${said}; custom resources know no strategic merge patch: use apply, or a merge or JSON patch`;
    default:
      return said;
  }
}

function explainForbidden(status: Status | undefined, said: string, subject: Subject): string {
  if (status?.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true) {
    return `namespace "${subject.namespace}" is being deleted; wait until it is gone, then create it anew`;
  }
  const refused = /User "([^"]*)" cannot (\S+) (?:resource "([^"]+)" in API group "([^"]*)"|path "([^"]+)")(.*)$/.exec(
    said,
  );
  if (refused === null) return said;
  const [, user, verb, resource, group, path, where = ''] = refused;
  const within = /in the namespace "([^"]+)"/.exec(where)?.[1];
  const rule =
    path === undefined
      ? `apiGroups ["${group}"], resources ["${resource}"], verbs ["${verb}"]`
      : `nonResourceURLs ["${path}"], verbs ["${verb}"]`;
  const role = within === undefined ? 'a ClusterRole' : `a Role in namespace "${within}"`;
  const why = /: (.+)$/.exec(where)?.[1];
  return `user "${user}" lacks the permission; grant it by ${role}: ${rule}${why === undefined ? '' : ` (${why})`}`;
}
