/**
 * Faults: everything that can go wrong between us and a Kubernetes API, as one table of codes. The table also says how to
 * retry, so that no caller has to decide. Outcomes that an operator decides (`wait`, `reject`) are values, never faults.
 *
 *   backoff  try again, exponentially later          slow   try again, but a person has to act first (minutes)
 *   never    the same call will fail the same way    exit   the process cannot go on
 *
 * A caller's own AbortSignal is no fault: the call rejects with that signal's reason.
 */
export type Retry = 'backoff' | 'slow' | 'never' | 'exit';

/** Every code, and what to do about it. */
export const faults = {
  // what the API server answers
  BadRequest: { retry: 'never' },
  Unauthorized: { retry: 'slow' },
  Forbidden: { retry: 'slow' },
  NotFound: { retry: 'backoff' },
  MethodNotAllowed: { retry: 'never' },
  NotAcceptable: { retry: 'never' },
  AlreadyExists: { retry: 'backoff' },
  Conflict: { retry: 'backoff' },
  ApplyConflict: { retry: 'slow' },
  Gone: { retry: 'backoff' },
  Expired: { retry: 'backoff' },
  RequestEntityTooLarge: { retry: 'never' },
  UnsupportedMediaType: { retry: 'never' },
  Invalid: { retry: 'never' },
  TooManyRequests: { retry: 'backoff' },
  InternalError: { retry: 'backoff' },
  ServiceUnavailable: { retry: 'backoff' },
  ServerTimeout: { retry: 'backoff' },
  UnexpectedAnswer: { retry: 'backoff' },
  // what happens on the way
  Unreachable: { retry: 'backoff' },
  TimedOut: { retry: 'backoff' },
  TlsRefused: { retry: 'slow' },
  StreamBroken: { retry: 'backoff' },
  StreamStalled: { retry: 'backoff' },
  // what we are given
  KindNotServed: { retry: 'slow' },
  BadConfig: { retry: 'exit' },
  CredentialsFailed: { retry: 'slow' },
  // what others do to what we write
  MarksChanged: { retry: 'slow' },
  // what we may do
  LeaseLost: { retry: 'backoff' },
} as const satisfies Record<string, { retry: Retry }>;

export type FaultCode = keyof typeof faults;

export interface FaultDetails {
  /** HTTP status, where there was an answer. */
  status?: number;
  /** What the request was: `PATCH /apis/apps/v1/…`. */
  request?: string;
  retryAfterMs?: number;
  /** The causes the server named: field and reason. */
  causes?: readonly { field?: string; reason?: string; message?: string }[];
  /** An `ApplyConflict`: who owns the fields that we wanted. */
  conflicts?: readonly { manager: string; field: string }[];
  /** The request left this machine and no answer came back: the server may have carried it out. */
  maybeDone?: boolean;
  /** An `Expired` list: where it may be continued all the same, with what exists now behind the last name that was read. */
  continue?: string;
}

export class Fault extends Error {
  readonly code: FaultCode;
  readonly retry: Retry;
  readonly details: FaultDetails;

  constructor(code: FaultCode, message: string, details: FaultDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'Fault';
    this.code = code;
    this.retry = faults[code].retry;
    this.details = details;
  }
}

/** True for a fault, with one of these codes if any are named. */
export function isFault(error: unknown, ...codes: FaultCode[]): error is Fault {
  return error instanceof Fault && (codes.length === 0 || codes.includes(error.code));
}
