import { stringify } from 'yaml';
import type { KeyPair } from './pki.ts';

/** How a client proves who it is: with a certificate or with a bearer token. */
export type Credentials = KeyPair | { readonly token: string };

/** Builds the text of a kubeconfig with one cluster, one user and one context; everything is embedded. */
export function kubeconfig(server: string, authority: string, user: string, credentials: Credentials): string {
  const login =
    'token' in credentials
      ? { token: credentials.token }
      : { 'client-certificate-data': base64(credentials.certificate), 'client-key-data': base64(credentials.key) };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'testenv', cluster: { server, 'certificate-authority-data': base64(authority) } }],
    users: [{ name: user, user: login }],
    contexts: [{ name: 'testenv', context: { cluster: 'testenv', user } }],
    'current-context': 'testenv',
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
