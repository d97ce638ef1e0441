/** An answer to a webhook call, before it is written to a connection. */
export interface Answer {
  /** HTTP status. A refusal is a 200: the review in the body says no. */
  readonly code: number;
  readonly body: unknown;
  /** What an operator's function threw, when it did: to be logged and counted. */
  readonly threw?: unknown;
}

/** A request that cannot be understood, as a Kubernetes Status: the API server shows its message to the user. */
export function badRequest(text: string): Answer {
  return failure(400, 'BadRequest', text);
}

/** A failed answer as a Kubernetes Status. */
export function failure(code: number, reason: string, text: string): Answer {
  return { code, body: { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason, message: text } };
}

/** The message of anything that was thrown. */
export function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
