/**
 * How to reach one cluster as one user: plain data, whatever it was read from. Secrets are wrapped, so a config may be
 * logged; files are named, not read in, so that what rotates on disk rotates in the client too.
 */
import type { Secret } from './secret.ts';

/** PEM text that stands in the config itself, or in a file that may be replaced at any time. */
export type Material = { readonly data: Secret } | { readonly file: string };

export interface TlsConfig {
  /** Absent: the machine's own trust store. */
  readonly ca?: Material;
  readonly serverName?: string;
  readonly insecure: boolean;
}

export interface ExecConfig {
  readonly apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string;
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  /** What the plugin is told about the cluster, when it asks for that (`provideClusterInfo`). */
  readonly cluster?: Readonly<Record<string, unknown>>;
}

/** How requests prove who they are, beside a client certificate. */
export type Authentication =
  | { readonly type: 'none' }
  | { readonly type: 'token'; readonly token: Secret }
  | { readonly type: 'token-file'; readonly file: string }
  | { readonly type: 'basic'; readonly username: string; readonly password: Secret }
  | { readonly type: 'exec'; readonly exec: ExecConfig };

export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export interface KubeConfig {
  /** Base URL, with a path where the API is served below one, without a final slash. */
  readonly server: string;
  /** Where names without a namespace belong. */
  readonly namespace: string;
  /** For people: `context "dev" of /home/me/.kube/config`. */
  readonly source: string;
  readonly context?: string;
  readonly user?: string;
  readonly tls: TlsConfig;
  readonly authentication: Authentication;
  readonly clientCertificate?: { readonly certificate: Material; readonly key: Material };
  readonly impersonate?: Impersonation;
  /** URL of the proxy; wrapped because it may carry a password. */
  readonly proxy?: Secret;
  readonly disableCompression: boolean;
}
