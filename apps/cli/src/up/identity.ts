/**
 * Runs operators as themselves: a token of their own ServiceAccount, asked for with the user's rights and renewed in time. What
 * the generated permissions lack then shows on the developer's machine, not in production.
 */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient, KubeConfig } from '@keelson/kube';
import { failure } from '../failure.ts';

export interface Identity {
  /** Reaches the same cluster as the ServiceAccount. */
  readonly config: KubeConfig;
  /** Renews the token until the signal aborts. */
  renew(signal: AbortSignal): Promise<void>;
}

interface ServiceAccountRef {
  readonly name: string;
  readonly namespace: string;
}

const wantedSeconds = 3600;

/** The config of a ServiceAccount, its token in a file below `folder`. */
export async function serviceAccountIdentity(
  client: KubeClient,
  config: KubeConfig,
  account: ServiceAccountRef,
  folder: string,
): Promise<Identity> {
  const file = join(folder, 'operator.token');
  let lifetime = await writeToken(client, account, file);
  const { clientCertificate: _, impersonate: __, ...cluster } = config;
  return {
    config: {
      ...cluster,
      authentication: { type: 'token-file', file },
      user: `system:serviceaccount:${account.namespace}:${account.name}`,
    },
    async renew(signal) {
      while (!signal.aborted) {
        // Half the life time: a renewal that fails can be tried again before the token is refused.
        await sleep((lifetime / 2) * 1000, undefined, { signal, ref: false }).catch(() => {});
        if (signal.aborted) return;
        lifetime = await writeToken(client, account, file).catch(() => Math.max(20, lifetime / 2));
      }
    },
  };
}

/** Asks for a token, writes it in one piece, and tells how many seconds it lives. */
async function writeToken(client: KubeClient, { name, namespace }: ServiceAccountRef, file: string): Promise<number> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const { status, body } = await client.raw(path, {
    method: 'POST',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: wantedSeconds } },
  });
  const answer = JSON.parse(body) as { status?: { token?: string; expirationTimestamp?: string }; message?: string };
  const token = answer.status?.token;
  if (token === undefined) {
    throw failure(
      status === 403 ? 'forbidden' : 'failed',
      `no token for the ServiceAccount ${namespace}/${name}: ${answer.message ?? `HTTP ${status}`}`,
      'you need the permission to create serviceaccounts/token in that namespace',
    );
  }
  await writeFile(`${file}.new`, token, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return Math.max(20, (Date.parse(answer.status?.expirationTimestamp ?? '') - Date.now()) / 1000 || wantedSeconds);
}
