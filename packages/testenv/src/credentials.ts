/**
 * Who may log in: the environment's authorities and keys, and kubeconfigs made from them.
 *
 * Users get client certificates, ServiceAccounts get tokens, as in any cluster; so RBAC and the audit log see the same
 * names that they would see there.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AdminClient, isApiError } from './admin.ts';
import { frontProxyName, layoutFiles } from './control-plane.ts';
import { type Credentials, kubeconfig } from './kubeconfig.ts';
import { type CertificateAuthority, createAuthority, type KeyPair } from './pki.ts';
import { signToken } from './service-account-token.ts';
import type { Identity, ServiceAccountIdentity } from './test-env.ts';

/** The secrets of one environment. */
export interface Keyring {
  readonly authority: CertificateAuthority;
  readonly admin: KeyPair;
  readonly frontProxy: KeyPair;
  readonly serviceAccountKey: string;
}

/** Makes the environment's keys and writes those that the control plane reads. */
export async function createKeyring(dir: string): Promise<Keyring> {
  await mkdir(join(dir, 'pki'), { mode: 0o700 });
  const [authority, frontProxyAuthority] = await Promise.all([
    createAuthority('testenv-ca'),
    createAuthority('testenv-front-proxy-ca'),
  ]);
  const [server, admin, frontProxy] = await Promise.all([
    authority.issue({ commonName: 'kube-apiserver', hosts: serverHosts, usage: 'server' }),
    authority.issue({ commonName: 'testenv-admin', organizations: ['system:masters'], usage: 'client' }),
    frontProxyAuthority.issue({ commonName: frontProxyName, usage: 'client' }),
  ]);
  const account = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const serviceAccountKey = account.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const files = layoutFiles(dir);
  await Promise.all([
    writeFile(files.authority, authority.certificate),
    writeFile(files.authorityKey, authority.key),
    writeFile(files.server.certificate, server.certificate),
    writeFile(files.server.key, server.key),
    writeFile(files.frontProxyAuthority, frontProxyAuthority.certificate),
    writeFile(files.frontProxy.certificate, frontProxy.certificate),
    writeFile(files.frontProxy.key, frontProxy.key),
    writeFile(files.serviceAccountKey, serviceAccountKey),
    writeFile(files.serviceAccountPublicKey, account.publicKey.export({ type: 'spki', format: 'pem' })),
  ]);
  return { authority, admin, frontProxy, serviceAccountKey };
}

const serverHosts = [
  '127.0.0.1',
  '10.96.0.1',
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];

/** Issues credentials of an environment. */
export class Registrar {
  readonly #dir: string;
  readonly #keyring: Keyring;
  readonly #admin: AdminClient;

  constructor(dir: string, keyring: Keyring, admin: AdminClient) {
    this.#dir = dir;
    this.#keyring = keyring;
    this.#admin = admin;
  }

  /** Writes a kubeconfig for somebody against a server URL and gives its path. */
  async kubeconfigFor(server: string, identity: Identity): Promise<string> {
    if ('user' in identity) {
      const { user, groups = [], expiresInSeconds } = identity;
      const credentials = await this.#keyring.authority.issue({
        commonName: user,
        organizations: groups,
        usage: 'client',
        ...(expiresInSeconds !== undefined && { expiresInSeconds }),
      });
      return this.write(server, user, credentials);
    }
    const { namespace, name } = identity.serviceAccount;
    return this.write(server, `${namespace}-${name}`, { token: await this.token(identity) });
  }

  /** Writes a kubeconfig with given credentials and gives its path. */
  async write(server: string, user: string, credentials: Credentials): Promise<string> {
    const path = join(this.#dir, 'kubeconfig', `${user.replace(/[^\w.-]+/g, '-')}-${randomUUID().slice(0, 8)}.yaml`);
    await writeFile(path, kubeconfig(server, this.#keyring.authority.certificate, user, credentials), { mode: 0o600 });
    return path;
  }

  /** Gives a token of a ServiceAccount, which is created when it does not exist. */
  async token(identity: ServiceAccountIdentity): Promise<string> {
    const { serviceAccount, expiresInSeconds } = identity;
    const account = await this.#ensureServiceAccount(serviceAccount.namespace, serviceAccount.name);
    // The TokenRequest API refuses anything shorter.
    if (expiresInSeconds !== undefined && expiresInSeconds < 600) {
      return signToken(
        { ...serviceAccount, uid: account.metadata.uid },
        this.#keyring.serviceAccountKey,
        expiresInSeconds,
      );
    }
    const path = `/api/v1/namespaces/${serviceAccount.namespace}/serviceaccounts/${serviceAccount.name}/token`;
    const answer = await this.#admin.request('POST', path, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: expiresInSeconds ?? 24 * 3600 },
    });
    return (answer as { status: { token: string } }).status.token;
  }

  async #ensureServiceAccount(namespace: string, name: string): Promise<{ metadata: { uid: string } }> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } };
    await this.#admin.request('POST', path, account).catch((error: unknown) => {
      if (!isApiError(error, 409)) throw error;
    });
    return (await this.#admin.request('GET', `${path}/${name}`)) as { metadata: { uid: string } };
  }
}
