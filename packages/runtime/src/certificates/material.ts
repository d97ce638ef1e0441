/** The certificates in a Secret: read leniently (what is broken is simply not there), written whole. */
import type { Secret } from '@keelson/schema';
import { byAge, isKeyOf, readCertificates, readKeyPair, toBundle } from './certificate.ts';
import { isOwnAuthority, issueAuthority, issueCertificate } from './issue.ts';
import type { Material, RotationPlan, RotationPolicy } from './rotation.ts';

/** The keys of the Secret's data; the first three are those of a kubernetes.io/tls Secret as cert-manager writes it. */
export const secretKeys = { certificate: 'tls.crt', key: 'tls.key', bundle: 'ca.crt', authorityKey: 'ca.key' } as const;

/** What is usable in the data of a Secret. Authorities that are not ours are left out. */
export function readMaterial(data: Secret['data']): Material {
  const text = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
  const authorities = readCertificates(text(secretKeys.bundle)).filter(isOwnAuthority);
  authorities.sort(byAge);
  const authorityKey = text(secretKeys.authorityKey);
  const signer = authorities.findLast((authority) => isKeyOf(authority, authorityKey));
  const serving = readKeyPair(text(secretKeys.certificate), text(secretKeys.key));
  return {
    authorities,
    ...(signer === undefined ? {} : { signer: { certificate: signer, keyPem: authorityKey } }),
    ...(serving === undefined ? {} : { serving }),
  };
}

/** The data of the Secret that holds this material. */
export function toSecretData(material: Material): Record<string, string> {
  const encode = (text: string) => Buffer.from(text, 'utf8').toString('base64');
  return {
    [secretKeys.certificate]: encode(material.serving?.certificate.pem ?? ''),
    [secretKeys.key]: encode(material.serving?.keyPem ?? ''),
    [secretKeys.bundle]: encode(toBundle(material.authorities)),
    [secretKeys.authorityKey]: encode(material.signer?.keyPem ?? ''),
  };
}

/** Carries out a rotation plan: the material as it should be stored. */
export async function rotate(
  material: Material,
  plan: RotationPlan,
  policy: RotationPolicy,
  now: number,
): Promise<Material> {
  const signer =
    plan.authority === undefined
      ? material.signer
      : await issueAuthority({ now, lifetimeMs: policy.authorityLifetimeMs });
  const authorities =
    plan.authority === undefined || signer === undefined ? plan.keep : [...plan.keep, signer.certificate].sort(byAge);
  const renew = plan.serving !== undefined && signer !== undefined;
  const serving = renew
    ? await issueCertificate(signer, { now, lifetimeMs: policy.servingLifetimeMs, names: policy.names })
    : material.serving;
  return { authorities, ...(signer === undefined ? {} : { signer }), ...(serving === undefined ? {} : { serving }) };
}
