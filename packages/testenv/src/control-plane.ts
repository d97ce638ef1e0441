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

/** What the command lines of etcd and kube-apiserver are made from. */
export interface ApiLayout {
  /** The binary that contains every component. */
  readonly binary: string;
  readonly dir: string;
  readonly etcdPort: number;
  readonly apiPort: number;
  readonly admin: AdminClient;
  readonly apiServerFlags: Flags;
  readonly readyWithinMs: number;
}

/** What the command line of a client of the API server (controllers, scheduler, nodes) is made from. */
export interface ClientLayout {
  readonly binary: string;
  readonly dir: string;
  readonly kubeconfig: string;
  /** Where it serves its health. */
  readonly port: number;
  readonly admin: AdminClient;
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
    kwokConfig: join(dir, 'kwok.yaml'),
    auditPolicy: join(dir, 'audit-policy.json'),
    auditLog: join(dir, 'log', 'audit.jsonl'),
  } as const;
}

/** The name in the client certificate with which a front proxy may speak for others. */
export const frontProxyName = 'testenv-front-proxy';

/** etcd, with its data in the folder and without fsync. */
export function etcd(layout: ApiLayout): PartSpec {
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
export function apiServer(layout: ApiLayout): PartSpec {
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

/** kube-controller-manager, each controller under its own ServiceAccount, with client limits that do not slow tests. */
export function controllerManager(layout: ClientLayout): PartSpec {
  const files = layoutFiles(layout.dir);
  return {
    name: 'kube-controller-manager',
    readyWithinMs: layout.readyWithinMs,
    command: [
      layout.binary,
      'kube-controller-manager',
      ...toArguments({
        ...clientFlags(layout),
        'use-service-account-credentials': 'true',
        'service-account-private-key-file': files.serviceAccountKey,
        'root-ca-file': files.authority,
        'cluster-signing-cert-file': files.authority,
        'cluster-signing-key-file': files.authorityKey,
        'kube-api-qps': '300',
        'kube-api-burst': '600',
        'node-monitor-period': '1s',
      }),
    ],
    isReady: () => layout.admin.answers(`https://127.0.0.1:${layout.port}/healthz`),
  };
}

/** kube-scheduler. */
export function scheduler(layout: ClientLayout): PartSpec {
  const flags = { ...clientFlags(layout), 'kube-api-qps': '300', 'kube-api-burst': '600' };
  return {
    name: 'kube-scheduler',
    readyWithinMs: layout.readyWithinMs,
    command: [layout.binary, 'kube-scheduler', ...toArguments(flags)],
    isReady: () => layout.admin.answers(`https://127.0.0.1:${layout.port}/readyz`),
  };
}

/** KWOK, which plays the kubelet of every node: nodes stay ready and pods become ready, without running anything. */
export function kwok(layout: ClientLayout): PartSpec {
  return {
    name: 'kwok',
    readyWithinMs: layout.readyWithinMs,
    command: [
      layout.binary,
      ...toArguments({
        config: layoutFiles(layout.dir).kwokConfig,
        kubeconfig: layout.kubeconfig,
        'manage-all-nodes': 'true',
        // Set aside for benchmarks (RFC 2544) and routed nowhere: who asks a pod that is not there bothers nobody's machine.
        cidr: '198.18.0.0/15',
        'node-lease-duration-seconds': '40',
        'server-address': `127.0.0.1:${layout.port}`,
      }),
    ],
    // KWOK holds a lease a node under a name that it invents at each start, and would wait for its own old ones to expire.
    prepare: async () => {
      await layout.admin.request('DELETE', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases');
    },
    isReady: () => layout.admin.answers(`http://127.0.0.1:${layout.port}/healthz`),
  };
}

function clientFlags(layout: ClientLayout): Flags {
  const { server } = layoutFiles(layout.dir);
  return {
    kubeconfig: layout.kubeconfig,
    // There is one of each, and taking a lease would only cost time at start and after a kill.
    'leader-elect': 'false',
    'bind-address': '127.0.0.1',
    'secure-port': String(layout.port),
    'tls-cert-file': server.certificate,
    'tls-private-key-file': server.key,
    profiling: 'false',
  };
}

/** Turns flags into arguments. */
function toArguments(flags: Flags): string[] {
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
}
