/** PEM material (CA, client certificate, key): where it stands, and whether it is what it should be. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { Fault } from '../fault.ts';
import type { Material } from './config.ts';
import type { Fields } from './fields.ts';
import { Secret } from './secret.ts';

/** The material that `name` (a path) or `name-data` (base64) gives; data wins, as in kubectl. */
export function materialOf(fields: Fields, name: string): Material | undefined {
  const data = fields.string(`${name}-data`);
  if (data !== undefined) return { data: new Secret(Buffer.from(data, 'base64').toString('utf8')) };
  const file = fields.string(name);
  return file === undefined ? undefined : { file: besides(fields.file, file) };
}

/** A path of a kubeconfig, which is relative to the file it stands in. */
export function besides(kubeconfig: string, path: string): string {
  return isAbsolute(path) ? path : resolve(kubeconfig, '..', path);
}

/** The PEM text; a file that cannot be read is a `BadConfig` fault. */
export async function readMaterial(material: Material, what: string): Promise<string> {
  if ('data' in material) return material.data.reveal();
  try {
    return await readFile(material.file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const remedy = code === 'ENOENT' ? 'it does not exist: correct the path' : `${code}: check its permissions`;
    throw new Fault('BadConfig', `${what} ${material.file} cannot be read (${remedy})`, {}, error);
  }
}

/** Where a material stands, for messages. */
export function locationOf(material: Material): string {
  return 'file' in material ? material.file : 'given inline';
}

/** Throws a `BadConfig` fault unless the text holds a certificate. */
export function checkCertificate(pem: string, what: string, material: Material): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    const expected = 'it holds no PEM certificate: expected a block that begins with -----BEGIN CERTIFICATE-----';
    throw new Fault('BadConfig', `${what} (${locationOf(material)}): ${expected}`, {}, error);
  }
}

/** Throws a `BadConfig` fault unless certificate and key are readable and belong together. */
export function checkKeyPair(certificate: X509Certificate, keyPem: string, what: string, material: Material): void {
  let key: ReturnType<typeof createPrivateKey>;
  try {
    key = createPrivateKey(keyPem);
  } catch (error) {
    throw new Fault('BadConfig', `${what} (${locationOf(material)}): it holds no usable PEM private key`, {}, error);
  }
  if (!certificate.checkPrivateKey(key)) {
    const remedy = 'use the key that the certificate was issued for';
    throw new Fault(
      'BadConfig',
      `${what} (${locationOf(material)}) does not belong to the client certificate: ${remedy}`,
    );
  }
}
