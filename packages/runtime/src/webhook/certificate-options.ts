/** How a process gets the certificate of its webhooks, as its author writes it. */
import { type Duration, toMilliseconds } from '@keelson/schema';
import type { CertificateFiles } from '../certificates/file-certificates.ts';
import type { RotationPolicy } from '../certificates/rotation.ts';

/** We keep the certificates ourselves, in a Secret that all replicas share. */
export interface SelfManagedCertificates {
  readonly secret: { readonly namespace: string; readonly name: string };
  /** Of the authority; a year unless told. */
  readonly authorityLifetime?: Duration;
  /** Of the server certificate; 30 days unless told. At most a quarter of the authority's. */
  readonly servingLifetime?: Duration;
  /** How long API servers may take to see a changed registration; 30 s unless told. */
  readonly propagation?: Duration;
}

/** Somebody else keeps them, in files. */
export interface CertificatesInFiles {
  readonly files: CertificateFiles;
  /** How often the files are read; 10 s unless told. */
  readonly everyMs?: number;
}

export type CertificateOptions = SelfManagedCertificates | CertificatesInFiles;

export function isSelfManaged(options: CertificateOptions): options is SelfManagedCertificates {
  return 'secret' in options;
}

/** The rotation policy for these options; throws when their times cannot overlap as rotation needs it. */
export function toPolicy(options: SelfManagedCertificates, names: readonly string[]): RotationPolicy {
  const { authorityLifetime = '8760h', servingLifetime = '720h', propagation = '30s' } = options;
  const policy = {
    authorityLifetimeMs: toMilliseconds(authorityLifetime),
    servingLifetimeMs: toMilliseconds(servingLifetime),
    propagationMs: toMilliseconds(propagation),
    names,
  };
  if (policy.servingLifetimeMs > policy.authorityLifetimeMs / 4) {
    throw new RangeError(
      `certificates: servingLifetime ${servingLifetime} must be at most a quarter of authorityLifetime ${authorityLifetime}, so that no certificate outlives its authority`,
    );
  }
  if (policy.propagationMs > policy.servingLifetimeMs / 5) {
    throw new RangeError(
      `certificates: propagation ${propagation} must be at most a fifth of servingLifetime ${servingLifetime}, so that callers hear of a new authority in time`,
    );
  }
  return policy;
}
