/**
 * Issues certificates: ECDSA P-256, an authority that may sign certificates of servers and clients and no other authority.
 * The X.509 library is loaded when the first certificate is issued: a replica that only serves never pays for it.
 */
import { createPrivateKey, webcrypto } from 'node:crypto';
import type { Certificate, KeyPair } from './certificate.ts';
import { clockSkewMs, isIpAddress, readKeyPair } from './certificate.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** The organisation in the subject of our authorities: how they are told from foreign ones in a bundle. */
const organisation = 'Keelson';

/** True for an authority that `issueAuthority` made, by its subject. */
export function isOwnAuthority(certificate: Certificate): boolean {
  return certificate.x509.ca && certificate.x509.subject.split('\n').includes(`O=${organisation}`);
}

/** A new self-signed authority; `name` says whose, for people who look into a bundle. */
export async function issueAuthority(options: { now: number; lifetimeMs: number; name?: string }): Promise<KeyPair> {
  const x509 = await loadX509();
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const { notBefore, notAfter } = validity(options);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: `O=${organisation}, CN=${options.name ?? 'webhook'} authority of ${new Date(options.now).toISOString()}`,
    notBefore,
    notAfter,
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return toKeyPair(certificate.toString('pem'), keys.privateKey);
}

export interface CertificateRequest {
  readonly now: number;
  readonly lifetimeMs: number;
  /** DNS names and IP addresses. */
  readonly names: readonly string[];
  /** What its holder may be; a server unless told. */
  readonly usage?: 'server' | 'client';
  /** Who its holder is, in at most 64 characters: for people, because peers go by `names` alone. */
  readonly subject?: string;
}

/** A new certificate, signed by the authority. */
export async function issueCertificate(authority: KeyPair, options: CertificateRequest): Promise<KeyPair> {
  const { names, usage = 'server', subject = 'webhooks' } = options;
  const x509 = await loadX509();
  const signer = new x509.X509Certificate(authority.certificate.pem);
  const signingKey = await webcrypto.subtle.importKey(
    'pkcs8',
    createPrivateKey(authority.keyPem).export({ type: 'pkcs8', format: 'der' }),
    algorithm,
    false,
    ['sign'],
  );
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const { notBefore, notAfter } = validity(options);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: `O=${organisation}, CN=${subject}`,
    issuer: signer.subjectName,
    notBefore,
    // A certificate that outlives its authority would look good and be refused.
    notAfter: new Date(Math.min(notAfter.getTime(), authority.certificate.notAfter)),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([
        usage === 'server' ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth,
      ]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIpAddress(value) ? 'ip' : 'dns', value })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(signer.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return toKeyPair(certificate.toString('pem'), keys.privateKey);
}

async function loadX509() {
  // The library refuses to load before this polyfill is there.
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

/** X.509 counts whole seconds. */
function validity({ now, lifetimeMs }: { now: number; lifetimeMs: number }): { notBefore: Date; notAfter: Date } {
  const second = Math.floor(now / 1000) * 1000;
  return {
    notBefore: new Date(second - clockSkewMs),
    notAfter: new Date(second + Math.ceil(lifetimeMs / 1000) * 1000),
  };
}

/** 16 random bytes; the first bit is clear, because a serial number is a positive number. */
function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return Buffer.from(bytes).toString('hex');
}

async function toKeyPair(certificatePem: string, privateKey: webcrypto.CryptoKey): Promise<KeyPair> {
  const keyPem = createPrivateKey({
    key: Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey)),
    type: 'pkcs8',
    format: 'der',
  }).export({ type: 'pkcs8', format: 'pem' });
  const pair = readKeyPair(certificatePem, String(keyPem));
  if (pair === undefined) throw new Error('the certificate that was just issued does not match its key');
  return pair;
}
