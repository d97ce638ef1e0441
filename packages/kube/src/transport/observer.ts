/** What a client tells about its traffic; the runtime turns it into metrics (`rest_client_requests_total`, …). */
export interface RequestReport {
  readonly method: string;
  readonly host: string;
  /** HTTP status as text, or `<error>` when no answer came. */
  readonly code: string;
  /** For a stream: until its head arrived. */
  readonly durationMs: number;
  /** The API verb: get, list, watch, create, update, patch, apply, delete, read. */
  readonly verb: string;
  /** `deployments.apps`; absent for paths that are no resource. */
  readonly resource?: string;
}

export interface RetryReport {
  readonly verb: string;
  readonly resource?: string;
  /** How many attempts have failed. */
  readonly attempt: number;
  readonly delayMs: number;
  /** In words, without secrets. */
  readonly because: string;
}

export interface ThrottleReport {
  /** How long the call waited for its turn. */
  readonly waitedMs: number;
  /** How many calls may be under way at once now. */
  readonly limit: number;
  readonly verb: string;
  readonly resource?: string;
}

/** Called synchronously on the hot path: must be quick and must not throw. */
export interface ClientObserver {
  onRequest?(report: RequestReport): void;
  onRetry?(report: RetryReport): void;
  /** A call had to wait for its turn. */
  onThrottle?(report: ThrottleReport): void;
  /** The server sent a Warning header, for example about a deprecated API version. */
  onWarning?(text: string): void;
}
