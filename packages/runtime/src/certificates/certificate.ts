/** Certificates as values: read out of PEM, with what rotation needs to know about them. */
import { createPrivateKey, X509Certificate } from 'node:crypto';

/** Certificates are dated this far back, so that a caller whose clock is behind accepts them; their age counts from after it. */
export const clockSkewMs = 60_000;

export interface Certificate {
  /** SHA-256 of the certificate, hex: its identity. */
  readonly fingerprint: string;
  readonly pem: string;
  readonly createdAt: number;
  readonly notAfter: number;
  readonly x509: X509Certificate;
}

/** A certificate with the private key that belongs to it. */
export interface KeyPair {
  readonly certificate: Certificate;
  readonly keyPem: string;
}

const block = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** Every certificate in a PEM text, in its order and each once; what is no certificate is left out. */
export function readCertificates(pem: string): Certificate[] {
  const found = new Map<string, Certificate>();
  for (const [text] of pem.matchAll(block)) {
    const certificate = readCertificate(text);
    if (certificate !== undefined) found.set(certificate.fingerprint, certificate);
  }
  return [...found.values()];
}

/** The certificate and key of a pair; undefined when either is broken or they do not belong together. */
export function readKeyPair(certificatePem: string, keyPem: string): KeyPair | undefined {
  const [certificate] = readCertificates(certificatePem);
  if (certificate === undefined || !isKeyOf(certificate, keyPem)) return undefined;
  return { certificate, keyPem };
}

/** True when the private key (PEM) belongs to the certificate. */
export function isKeyOf(certificate: Certificate, keyPem: string): boolean {
  try {
    return certificate.x509.checkPrivateKey(createPrivateKey(keyPem));
  } catch {
    return false;
  }
}

/** True when the authority signed the certificate. */
export function isIssuedBy(certificate: Certificate, authority: Certificate): boolean {
  return certificate.x509.checkIssued(authority.x509) && certificate.x509.verify(authority.x509.publicKey);
}

/** The names that a server certificate does not answer to. */
export function missingNames(certificate: Certificate, names: readonly string[]): string[] {
  const { x509 } = certificate;
  return names.filter((name) => (isIpAddress(name) ? x509.checkIP(name) : x509.checkHost(name)) === undefined);
}

/** Oldest first; the same for everybody, also for certificates of the same second. */
export function byAge(a: Certificate, b: Certificate): number {
  return a.createdAt - b.createdAt || (a.fingerprint < b.fingerprint ? -1 : 1);
}

/** PEM of several certificates, one after the other: what Kubernetes calls a CA bundle. */
export function toBundle(certificates: readonly Certificate[]): string {
  return certificates.map(({ pem }) => pem).join('');
}

/** True for an IPv4 or IPv6 address: it stands in a certificate as such, not as a DNS name. */
export function isIpAddress(name: string): boolean {
  return /^[0-9.]+$/.test(name) || name.includes(':');
}

function readCertificate(text: string): Certificate | undefined {
  try {
    const x509 = new X509Certificate(text);
    return {
      fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase(),
      pem: x509.toString(),
      createdAt: x509.validFromDate.getTime() + clockSkewMs,
      notAfter: x509.validToDate.getTime(),
      x509,
    };
  } catch {
    return undefined;
  }
}
