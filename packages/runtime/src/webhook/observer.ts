/** What the webhooks tell the metrics. Every method is called on the hot path: it must not throw and must not wait. */
export interface WebhookObserver {
  /** A request has begun; `webhook` is its path, e.g. `/validate/website`. */
  started(webhook: string): void;
  /** It was answered with this HTTP code. Always follows `started`. */
  finished(request: { webhook: string; code: number; seconds: number }): void;
  /** An operator's function threw; the request was refused. */
  threw(webhook: string): void;
  /** A caller and we could not agree on TLS: it does not trust our certificate, or speaks no TLS. */
  handshakeFailed(): void;
  /** This certificate is in use from now on. */
  certificate(certificate: { which: 'authority' | 'serving'; notAfter: Date }): void;
  /** Something was written to the cluster: a certificate rotated, a registration repaired. */
  wrote(target: string): void;
}

/** Hears nothing. */
export const silentObserver: WebhookObserver = {
  started: () => {},
  finished: () => {},
  threw: () => {},
  handshakeFailed: () => {},
  certificate: () => {},
  wrote: () => {},
};
