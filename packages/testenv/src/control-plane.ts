/**
 * The command lines of the control plane: which flags make real Kubernetes components a quick, closed test environment.
 *
 * Everything is what a cluster has (RBAC, default admission, TLS, bound tokens, API priority and fairness) but for
 * durability: etcd does not wait for the disk. Every path that a component would choose by itself is set to the folder.
 */
import { join } from 'node:path';
import { request } from 'undici';
import type { AdminClient } from './admin.ts';
import type { PartSpec } from './part.ts';
import { tokenIssuer } from './service-account-token.ts';

/** Extra command-line flags, without the leading dashes; they win over ours. */
export type Flags = Readonly<Record<string, string>>;

/** What the command lines are made from. */
export interface ControlPlaneLayout {
  /** The binary that contains every component. */
  readonly binary: string;
  readonly dir: string;
  readonly etcdPort: number;
  readonly apiPort: number;
  readonly admin: AdminClient;
  readonly apiServerFlags: Flags;
  readonly readyWithinMs: number;
}

/** Files of the environment by what they are for. */
export function layoutFiles(dir: string) {
  const pki = (name: string) => join(dir, 'pki', name);
  return {
    authority: pki('ca.crt'),
    authorityKey: pki('ca.key'),
    server: { certificate: pki('server.crt'), key: pki('server.key') },
    frontProxyAuthority: pki('front-proxy-ca.crt'),
    frontProxy: { certificate: pki('front-proxy.crt'), key: pki('front-proxy.key') },
    serviceAccountKey: pki('service-account.key'),
    serviceAccountPublicKey: pki('service-account.pub'),
    auditPolicy: join(dir, 'audit-policy.json'),
    auditLog: join(dir, 'log', 'audit.jsonl'),
  } as const;
}

/** The name in the client certificate with which a front proxy may speak for others. */
export const frontProxyName = 'testenv-front-proxy';

/** etcd, with its data in the folder and without fsync. */
export function etcd(layout: ControlPlaneLayout): PartSpec {
  const url = `http://127.0.0.1:${layout.etcdPort}`;
  return {
    name: 'etcd',
    readyWithinMs: layout.readyWithinMs,
    command: [
      layout.binary,
      'etcd',
      ...toArguments({
        'data-dir': join(layout.dir, 'etcd'),
        'listen-client-urls': url,
        'advertise-client-urls': url,
        // A single member has no peers; port 0 keeps it from needing a second fixed port.
        'listen-peer-urls': 'http://127.0.0.1:0',
        'unsafe-no-fsync': 'true',
        'log-level': 'warn',
      }),
    ],
    isReady: () =>
      request(`${url}/health`, { headersTimeout: 2000 }).then(
        async (response) => (await response.body.text()).includes('true'),
        () => false,
      ),
  };
}

/** kube-apiserver on 127.0.0.1 with RBAC, audit log, bound ServiceAccount tokens and front-proxy authentication. */
export function apiServer(layout: ControlPlaneLayout): PartSpec {
  const files = layoutFiles(layout.dir);
  return {
    name: 'kube-apiserver',
    readyWithinMs: layout.readyWithinMs,
    command: [
      layout.binary,
      'kube-apiserver',
      ...toArguments({
        'etcd-servers': `http://127.0.0.1:${layout.etcdPort}`,
        'bind-address': '127.0.0.1',
        'secure-port': String(layout.apiPort),
        'advertise-address': '127.0.0.1',
        // A loopback address is not valid in Endpoints, so the reconciler would only fail every few seconds.
        'endpoint-reconciler-type': 'none',
        'cert-dir': join(layout.dir, 'pki'),
        'tls-cert-file': files.server.certificate,
        'tls-private-key-file': files.server.key,
        'client-ca-file': files.authority,
        'requestheader-client-ca-file': files.frontProxyAuthority,
        'requestheader-allowed-names': frontProxyName,
        'requestheader-username-headers': 'X-Remote-User',
        'requestheader-group-headers': 'X-Remote-Group',
        'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
        'proxy-client-cert-file': files.frontProxy.certificate,
        'proxy-client-key-file': files.frontProxy.key,
        'service-account-issuer': tokenIssuer,
        'service-account-key-file': files.serviceAccountPublicKey,
        'service-account-signing-key-file': files.serviceAccountKey,
        'authorization-mode': 'RBAC',
        'service-cluster-ip-range': '10.96.0.0/16',
        'allow-privileged': 'true',
        'audit-policy-file': files.auditPolicy,
        'audit-log-path': files.auditLog,
        // Not one entry may be lost: written before the request is done, and never rotated away (size in megabytes).
        'audit-log-mode': 'blocking',
        'audit-log-maxsize': '100000',
        profiling: 'false',
        ...layout.apiServerFlags,
      }),
    ],
    isReady: () => layout.admin.answers('/readyz'),
  };
}

/** Turns flags into arguments. */
export function toArguments(flags: Flags): string[] {
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
}
