/**
 * Where the webhooks get their certificate from: a Secret that we keep ourselves (secret-certificates.ts), or files that
 * somebody else keeps (file-certificates.ts). Both run until told to stop, and say when something changed.
 */
export interface CertificateSource {
  /** What to serve with now; undefined while there is none. */
  readonly serving: Serving | undefined;
  /** PEM of the authorities that callers must trust; `elsewhere` when telling them is somebody else's job; undefined while not known. */
  readonly bundle: string | 'elsewhere' | undefined;
  /** What stands in the way at the moment, for a person. */
  readonly trouble: string | undefined;
  /** Keeps the certificate good until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Callers have been told of a bundle: look again. */
  ring(): void;
}

export interface Serving {
  readonly cert: string;
  readonly key: string;
  readonly notAfter: Date;
}
