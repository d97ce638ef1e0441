/**
 * Throw-away certificates: an authority made at start, in memory and in the environment's folder, gone with it.
 *
 * P-256 throughout, because a key takes a millisecond to make and RSA a quarter of a second.
 */
import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type JsonGeneralNames,
  type JsonName,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** What a certificate shall say. */
export interface CertificateRequest {
  readonly commonName: string;
  /** Become groups when the API server reads a client certificate. */
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses of a server. */
  readonly hosts?: readonly string[];
  readonly usage: 'client' | 'server';
  /** Seconds from now until it expires; zero or less makes one that is expired already. */
  readonly expiresInSeconds?: number;
}

/** A certificate authority that can issue certificates. */
export interface CertificateAuthority extends KeyPair {
  issue(request: CertificateRequest): Promise<KeyPair>;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const daySeconds = 86_400;

/** Makes a new authority with a key of its own. */
export async function createAuthority(commonName: string): Promise<CertificateAuthority> {
  const keys = await generateKeys();
  const root = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ CN: [commonName] }],
    ...validity(30 * daySeconds),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign | KeyUsageFlags.digitalSignature, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const authorityKeyId = await AuthorityKeyIdentifierExtension.create(keys.publicKey);

  const issue = async (request: CertificateRequest): Promise<KeyPair> => {
    const leafKeys = await generateKeys();
    const isServer = request.usage === 'server';
    const certificate = await X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      subject: subjectName(request),
      issuer: root.subjectName,
      ...validity(request.expiresInSeconds ?? 7 * daySeconds),
      signingAlgorithm: algorithm,
      publicKey: leafKeys.publicKey,
      signingKey: keys.privateKey,
      extensions: [
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([isServer ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth]),
        authorityKeyId,
        ...(request.hosts ? [new SubjectAlternativeNameExtension(alternativeNames(request.hosts))] : []),
      ],
    });
    return { certificate: certificate.toString('pem'), key: await privateKeyPem(leafKeys) };
  };
  return { certificate: root.toString('pem'), key: await privateKeyPem(keys), issue };
}

function subjectName(request: CertificateRequest): JsonName {
  return [...(request.organizations ?? []).map((group) => ({ O: [group] })), { CN: [request.commonName] }];
}

function alternativeNames(hosts: readonly string[]): JsonGeneralNames {
  return hosts.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? ('ip' as const) : ('dns' as const), value }));
}

function validity(seconds: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  // A day of past: clocks of client and server may differ, and an already expired certificate needs a beginning too.
  const notAfter = new Date(now + seconds * 1000);
  return { notBefore: new Date(Math.min(now, notAfter.getTime()) - daySeconds * 1000), notAfter };
}

function serialNumber(): string {
  // The first byte keeps the number positive and its encoding minimal.
  return `01${randomBytes(15).toString('hex')}`;
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

async function privateKeyPem(keys: webcrypto.CryptoKeyPair): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
}
