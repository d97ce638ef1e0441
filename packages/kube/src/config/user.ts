/** Turns the `user` of a kubeconfig into how requests authenticate: exactly one way, or a fault that names the clash. */
import { Fault } from '../fault.ts';
import type { Authentication, ExecConfig, Impersonation, KubeConfig } from './config.ts';
import type { Fields } from './fields.ts';
import { besides, materialOf } from './material.ts';
import { Secret } from './secret.ts';

export type UserConfig = Pick<KubeConfig, 'authentication' | 'clientCertificate' | 'impersonate'>;

const execVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;

/** What a user entry says; `clusterInfo` is what an exec plugin that asks for it is told about the cluster. */
export function toUserConfig(name: string, user: Fields, clusterInfo: Record<string, unknown>): UserConfig {
  const bad = (problem: string) => new Fault('BadConfig', `kubeconfig ${user.file}: user "${name}": ${problem}`);
  const provider = user.fields('auth-provider');
  if (provider !== undefined) {
    const plugin = provider.string('name') ?? 'unnamed';
    const remedy = 'use an exec plugin instead, for example gke-gcloud-auth-plugin, kubelogin or aws eks get-token';
    throw bad(`auth-provider "${plugin}" was removed from Kubernetes clients in v1.26: ${remedy}`);
  }
  const certificate = materialOf(user, 'client-certificate');
  const key = materialOf(user, 'client-key');
  if (certificate !== undefined && key === undefined)
    throw bad('client-certificate is set but client-key is not: add it');
  if (certificate === undefined && key !== undefined)
    throw bad('client-key is set but client-certificate is not: add it');
  const authentication = toAuthentication(user, clusterInfo, bad);
  if (authentication.type === 'exec' && certificate !== undefined) {
    throw bad('has a client certificate and an exec plugin: keep only one');
  }
  const impersonate = toImpersonation(user, bad);
  return {
    authentication,
    ...(certificate === undefined || key === undefined ? {} : { clientCertificate: { certificate, key } }),
    ...(impersonate === undefined ? {} : { impersonate }),
  };
}

function toAuthentication(
  user: Fields,
  info: Record<string, unknown>,
  bad: (problem: string) => Fault,
): Authentication {
  const token = user.string('token');
  const tokenFile = user.string('tokenFile');
  const username = user.string('username');
  const exec = user.fields('exec');
  const ways = [
    ...(token !== undefined || tokenFile !== undefined ? ['a token'] : []),
    ...(username !== undefined ? ['username/password'] : []),
    ...(exec !== undefined ? ['an exec plugin'] : []),
  ];
  if (ways.length > 1) throw bad(`has ${ways.join(' and ')}: keep only one`);
  if (tokenFile !== undefined) return { type: 'token-file', file: besides(user.file, tokenFile) };
  if (token !== undefined) return { type: 'token', token: new Secret(token) };
  if (username !== undefined) return { type: 'basic', username, password: new Secret(user.string('password') ?? '') };
  if (exec !== undefined) return { type: 'exec', exec: toExecConfig(exec, info, bad) };
  return { type: 'none' };
}

function toExecConfig(exec: Fields, info: Record<string, unknown>, bad: (problem: string) => Fault): ExecConfig {
  const given = exec.string('apiVersion');
  const apiVersion = execVersions.find((version) => version === given);
  if (apiVersion === undefined) {
    throw bad(`exec.apiVersion is ${given ?? 'missing'}: it must be one of ${execVersions.join(', ')}`);
  }
  const command = exec.string('command');
  if (command === undefined) throw bad('exec.command is missing: name the program to run');
  const mode = exec.string('interactiveMode') ?? (apiVersion.endsWith('/v1') ? undefined : 'IfAvailable');
  if (mode !== 'Never' && mode !== 'IfAvailable' && mode !== 'Always') {
    throw bad(`exec.interactiveMode is ${mode ?? 'missing'}: it must be Never, IfAvailable or Always`);
  }
  const installHint = exec.string('installHint');
  return {
    apiVersion,
    // As in kubectl: a bare name is looked up in PATH, anything with a slash is relative to the kubeconfig.
    command: /[/\\]/.test(command) ? besides(exec.file, command) : command,
    args: exec.strings('args'),
    env: Object.fromEntries(exec.list('env').map((entry) => [entry.string('name') ?? '', entry.string('value') ?? ''])),
    interactiveMode: mode,
    ...(installHint === undefined ? {} : { installHint }),
    ...(exec.boolean('provideClusterInfo') ? { cluster: info } : {}),
  };
}

function toImpersonation(user: Fields, bad: (problem: string) => Fault): Impersonation | undefined {
  const as = user.string('as');
  const uid = user.string('as-uid');
  const groups = user.strings('as-groups');
  const extraFields = user.fields('as-user-extra');
  const extra = Object.fromEntries((extraFields?.keys() ?? []).map((key) => [key, extraFields?.strings(key) ?? []]));
  if (as !== undefined) return { user: as, groups, extra, ...(uid === undefined ? {} : { uid }) };
  if (uid !== undefined || groups.length > 0 || extraFields !== undefined) {
    throw bad('as-uid, as-groups and as-user-extra need `as`: name the user to impersonate');
  }
  return undefined;
}
