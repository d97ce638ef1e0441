/** Questions about a client certificate that is already in hand. */
import { createPrivateKey, X509Certificate } from 'node:crypto';

/** True when the key is the one that the certificate was issued for, and both can be read. */
export function belongTogether(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** `expired on …`, `is valid only from …`, or undefined when the certificate is valid now. */
export function expiryOf(cert: string, now: number): string | undefined {
  const { validFrom, validTo } = new X509Certificate(cert);
  if (Date.parse(validTo) < now) return `expired on ${new Date(validTo).toISOString()}`;
  if (Date.parse(validFrom) > now) return `is valid only from ${new Date(validFrom).toISOString()}`;
  return undefined;
}
