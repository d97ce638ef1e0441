/**
 * A credential: who we are to the server, kept current. Tokens and certificates that live in files are re-read, exec plugins
 * are run again when what they gave has expired, and both at once when the server answers 401.
 *
 * Invariant: `current` returns the very same Identity while nothing has changed, so identities are compared by reference:
 * the transport opens new connections exactly when the certificate is a different one.
 */
import type { Clock } from '../clock.ts';
import type { KubeConfig, Material } from '../config/config.ts';
import { Secret } from '../config/secret.ts';
import { createExecCredential, type RunPlugin } from './exec-plugin.ts';
import { belongTogether, expiryOf } from './key-pair.ts';
import { RotatingFile } from './rotating-file.ts';

export interface ClientCertificate {
  readonly cert: string;
  readonly key: Secret;
}

export interface Identity {
  /** Value of the Authorization header. */
  readonly authorization?: Secret;
  readonly certificate?: ClientCertificate;
}

export interface Credential {
  current(signal?: AbortSignal): Promise<Identity>;
  /** After a 401 for `rejected`: true when there is now another identity to try. */
  renew(rejected: Identity, signal?: AbortSignal): Promise<boolean>;
  /** For a person whose request was answered with 401: which credential that was, and what to do about it. */
  explain(): string;
}

/** The credential that a config describes. */
export function createCredential(config: KubeConfig, clock: Clock, run?: RunPlugin): Credential {
  const { authentication } = config;
  const owner = config.user === undefined ? '' : ` of user "${config.user}"`;
  const certificate = config.clientCertificate && createCertificateSource(config.clientCertificate, clock);
  if (authentication.type === 'exec') return createExecCredential(authentication.exec, owner, clock, run);

  let identity: Identity | undefined;
  const token = authentication.type === 'token-file' ? new RotatingFile(authentication.file, clock) : undefined;
  const fixed =
    authentication.type === 'token'
      ? `Bearer ${authentication.token.reveal()}`
      : authentication.type === 'basic'
        ? `Basic ${Buffer.from(`${authentication.username}:${authentication.password.reveal()}`).toString('base64')}`
        : undefined;

  async function read(force: boolean): Promise<Identity> {
    const authorization = token === undefined ? fixed : `Bearer ${(await token.read(force)).trim()}`;
    const pair = await certificate?.(force);
    if (identity === undefined || identity.authorization?.reveal() !== authorization || identity.certificate !== pair) {
      identity = {
        ...(authorization === undefined ? {} : { authorization: new Secret(authorization) }),
        ...(pair === undefined ? {} : { certificate: pair }),
      };
    }
    return identity;
  }

  return {
    current: () => read(false),
    renew: async (rejected) => (await read(true)) !== rejected,
    explain() {
      const expired = identity?.certificate && expiryOf(identity.certificate.cert, clock.now());
      const where = `(${config.source})`;
      if (expired !== undefined) return `the client certificate${owner} ${where} ${expired}: renew it`;
      switch (authentication.type) {
        case 'token-file':
          return `the token in ${authentication.file} was refused, also after it was read again: is it expired, or for another cluster?`;
        case 'token':
          return `the token${owner} ${where} was refused: it may be expired or revoked; get a new one`;
        case 'basic':
          return `the password${owner} ${where} was refused: Kubernetes itself has no basic authentication since v1.19; use a token or a certificate`;
        case 'none':
          return certificate === undefined
            ? `no credential is configured ${where}: add a token, client certificate or exec plugin`
            : `the client certificate${owner} ${where} was refused: was it issued by this cluster's CA?`;
      }
    },
  };
}

function createCertificateSource(
  pair: NonNullable<KubeConfig['clientCertificate']>,
  clock: Clock,
): (force: boolean) => Promise<ClientCertificate> {
  const certificate = reader(pair.certificate, clock);
  const key = reader(pair.key, clock);
  let current: ClientCertificate | undefined;
  return async (force) => {
    const [cert, keyText] = await Promise.all([certificate(force), key(force)]);
    if (current !== undefined && current.cert === cert && current.key.reveal() === keyText) return current;
    const next = { cert, key: new Secret(keyText) };
    // The two files of a rotation are not replaced at one instant: keep the old pair until the new one is whole.
    if (current === undefined || belongTogether(cert, keyText)) current = next;
    return current;
  };
}

function reader(material: Material, clock: Clock): (force: boolean) => Promise<string> {
  if ('data' in material) return async () => material.data.reveal();
  const file = new RotatingFile(material.file, clock);
  return (force) => file.read(force);
}
