/**
 * The rotation plan: pure, from the certificates there are to what has to happen to them now, and when to look again.
 *
 * Invariant: no request fails because of a rotation.
 *   - A server certificate is signed by a new authority only when every caller has been told of that authority, for at
 *     least `propagationMs` (`trustedSince` is observed in the cluster, not remembered).
 *   - The key of an authority is gone from the moment it has a successor, so everything it signed has expired
 *     `servingLifetimeMs` later: that is when it leaves the bundle, and no replica can still be serving such a certificate.
 *   - Everything is renewed at about two thirds of its life, at a point that its fingerprint decides: replicas agree on it.
 */
import type { Certificate, KeyPair } from './certificate.ts';
import { byAge, isIssuedBy, missingNames } from './certificate.ts';

export interface RotationPolicy {
  readonly authorityLifetimeMs: number;
  readonly servingLifetimeMs: number;
  /** How long callers may take to learn of a new authority after it was written where they read it. */
  readonly propagationMs: number;
  /** The DNS names and IP addresses that callers use. */
  readonly names: readonly string[];
}

/** The certificates there are: what the Secret holds. */
export interface Material {
  /** What callers are told to trust, oldest first. */
  readonly authorities: readonly Certificate[];
  /** The authority that signs: one of `authorities`, with its key. */
  readonly signer?: KeyPair;
  readonly serving?: KeyPair;
}

export interface RotationInput {
  readonly material: Material;
  readonly now: number;
  readonly policy: RotationPolicy;
  /** Since when every caller has been told of this authority (by fingerprint); undefined while one has not. */
  readonly trustedSince: (fingerprint: string) => number | undefined;
  /** The authority behind what this replica serves right now. */
  readonly inUse?: Certificate;
}

export interface RotationPlan {
  /** A new authority is needed, because… */
  readonly authority?: string;
  /** A new server certificate is needed, because… */
  readonly serving?: string;
  /** What callers trust from now on, without the new authority. */
  readonly keep: readonly Certificate[];
  /** Authorities that leave or come back, in words. */
  readonly notes: readonly string[];
  /** True when there is something to write. */
  readonly due: boolean;
  /** When the plan may change although nothing else does. */
  readonly nextAt: number;
}

/** What has to happen to the certificates now. */
export function planRotation({ material, now, policy, trustedSince, inUse }: RotationInput): RotationPlan {
  const times: number[] = [];
  const notes: string[] = [];
  const signer =
    material.signer !== undefined && now < material.signer.certificate.notAfter
      ? material.signer.certificate
      : undefined;
  const authority = reasonForAuthority(signer, now, policy, times);

  const candidates = [...material.authorities];
  if (inUse !== undefined && now < inUse.notAfter && !includes(candidates, inUse)) {
    notes.push('the authority behind the certificate in use was missing from the bundle');
    candidates.push(inUse);
    candidates.sort(byAge);
  }
  const issuer = usableIssuer(material.serving, candidates, now);

  const keep = candidates.filter((candidate, i) => {
    if (candidate.fingerprint === signer?.fingerprint) return true;
    // Whether or not the successor is here yet: what has no key any more is dated by the next one.
    const successor = candidates[i + 1]?.createdAt ?? now;
    const end = Math.min(candidate.notAfter, successor + policy.servingLifetimeMs + policy.propagationMs);
    const needed = candidate.fingerprint === issuer?.fingerprint || candidate.fingerprint === inUse?.fingerprint;
    if (now < (needed ? candidate.notAfter : end)) {
      times.push(needed ? candidate.notAfter : end);
      return true;
    }
    notes.push(`nothing that '${commonName(candidate)}' signed is valid any more`);
    return false;
  });

  let serving = reasonForServing(material.serving, issuer, now, policy);
  if (serving === undefined && material.serving !== undefined) {
    const worn = reasonToReplace(
      material.serving.certificate,
      issuer,
      authority === undefined ? signer : undefined,
      now,
      policy,
      times,
    );
    const since = authority === undefined && signer !== undefined ? trustedSince(signer.fingerprint) : undefined;
    if (worn !== undefined && since !== undefined) {
      if (now >= since + policy.propagationMs) serving = worn;
      else times.push(since + policy.propagationMs);
    }
    times.push(material.serving.certificate.notAfter);
  }
  const due = authority !== undefined || serving !== undefined || notes.length > 0;
  return {
    ...(authority === undefined ? {} : { authority }),
    ...(serving === undefined ? {} : { serving }),
    keep,
    notes,
    due,
    nextAt: Math.min(...times, now + policy.servingLifetimeMs),
  };
}

/**
 * When a certificate is renewed: between 0.60 and 0.73 of its life, by its fingerprint. Its life is the one that it was given, or
 * the one that the policy gives now if that is shorter.
 */
export function renewAt({ createdAt, notAfter, fingerprint }: Certificate, lifetimeMs: number): number {
  const jitter = Number.parseInt(fingerprint.slice(0, 8), 16) / 0xffff_ffff;
  return createdAt + Math.min(notAfter - createdAt, lifetimeMs) * (0.6 + 0.13 * jitter);
}

/** The authority in a bundle behind a server certificate, as long as both are valid. */
export function usableIssuer(
  serving: KeyPair | undefined,
  authorities: readonly Certificate[],
  now: number,
): Certificate | undefined {
  if (serving === undefined || now >= serving.certificate.notAfter) return undefined;
  return authorities.find((authority) => now < authority.notAfter && isIssuedBy(serving.certificate, authority));
}

function reasonForAuthority(
  signer: Certificate | undefined,
  now: number,
  policy: RotationPolicy,
  times: number[],
): string | undefined {
  if (signer === undefined) return 'there is no valid authority with its key';
  if (now >= renewAt(signer, policy.authorityLifetimeMs))
    return `'${commonName(signer)}' is past two thirds of its life`;
  times.push(renewAt(signer, policy.authorityLifetimeMs));
  return undefined;
}

/** Why the server certificate is of no use at all: then a new one is issued without waiting for callers. */
function reasonForServing(
  serving: KeyPair | undefined,
  issuer: Certificate | undefined,
  now: number,
  policy: RotationPolicy,
): string | undefined {
  if (serving === undefined) return 'there is no server certificate with its key';
  if (now >= serving.certificate.notAfter) return 'the server certificate has expired';
  if (issuer === undefined) return 'the server certificate is not signed by an authority in the bundle';
  const missing = missingNames(serving.certificate, policy.names);
  return missing.length > 0 ? `the server certificate is not for ${missing.join(', ')}` : undefined;
}

/** Why a server certificate that still works should be replaced. */
function reasonToReplace(
  serving: Certificate,
  issuer: Certificate | undefined,
  signer: Certificate | undefined,
  now: number,
  policy: RotationPolicy,
  times: number[],
): string | undefined {
  if (signer !== undefined && issuer?.fingerprint !== signer.fingerprint) return 'there is a newer authority';
  if (now >= renewAt(serving, policy.servingLifetimeMs)) return 'the server certificate is past two thirds of its life';
  times.push(renewAt(serving, policy.servingLifetimeMs));
  return undefined;
}

function includes(certificates: readonly Certificate[], wanted: Certificate): boolean {
  return certificates.some(({ fingerprint }) => fingerprint === wanted.fingerprint);
}

function commonName(certificate: Certificate): string {
  return /CN=(.*)/.exec(certificate.x509.subject)?.[1] ?? certificate.fingerprint;
}
