/** The reasons that the API server gives with these codes (k8s.io/apimachinery/pkg/apis/meta/v1, StatusReason). */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** How a Status differs from the plain one of its code. */
export interface StatusDetails {
  readonly reason?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
}

/** Builds the Status object with which an API server would answer. */
export function statusBody(code: number, details: StatusDetails = {}): object {
  const { reason = reasons[code] ?? '', message = `fault proxy: ${reason || code}`, retryAfterSeconds } = details;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(retryAfterSeconds !== undefined && { details: { retryAfterSeconds } }),
    code,
  };
}
