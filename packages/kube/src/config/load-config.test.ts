import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isFault } from '../fault.ts';
import { first, second } from '../testing/pem.ts';
import type { KubeConfig } from './config.ts';
import { type LoadConfigOptions, loadConfig } from './load-config.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-config-'));
});

afterEach(() => rm(directory, { recursive: true }));

async function write(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  return path;
}

/** A kubeconfig with one context of the given name; `user` and `cluster` are YAML in flow style. */
function kubeconfig(
  name: string,
  parts: { user?: string; cluster?: string; context?: string; current?: string } = {},
): string {
  return `
apiVersion: v1
kind: Config
current-context: ${parts.current ?? name}
clusters: [{ name: ${name}, cluster: ${parts.cluster ?? `{ server: "https://${name}.example:6443" }`} }]
users: [{ name: ${name}, user: ${parts.user ?? `{ token: secret-of-${name} }`} }]
contexts: [{ name: ${name}, context: ${parts.context ?? `{ cluster: ${name}, user: ${name}, namespace: ns-${name} }`} }]
`;
}

async function load(text: string, options: LoadConfigOptions = {}): Promise<KubeConfig> {
  return loadConfig({ kubeconfig: await write('config', text), env: {}, ...options });
}

async function problemOf(text: string, options: LoadConfigOptions = {}): Promise<string> {
  return load(text, options).then(
    (config) => `no problem: ${inspect(config)}`,
    (error: unknown) => {
      if (!isFault(error, 'BadConfig')) throw error;
      return error.message.replaceAll(directory, '~');
    },
  );
}

describe('finding a config', () => {
  it('given a kubeconfig, the current context says server, user and namespace', async () => {
    const config = await load(kubeconfig('dev'));
    expect(config).toMatchObject({
      server: 'https://dev.example:6443',
      namespace: 'ns-dev',
      context: 'dev',
      user: 'dev',
    });
    expect(config.source).toBe(`context "dev" of ${join(directory, 'config')}`);
  });

  it('given several files in KUBECONFIG, the first that sets a name or current-context wins, with its whole entry', async () => {
    const a = await write('a', kubeconfig('dev', { cluster: '{ server: "https://first.example" }' }));
    const b = await write(
      'b',
      kubeconfig('dev', { cluster: '{ server: "https://second.example", tls-server-name: other }', current: 'prod' }),
    );
    const c = await write('c', kubeconfig('prod'));
    const env = { KUBECONFIG: [a, join(directory, 'missing'), b, c].join(':') };
    const merged = await loadConfig({ env });
    expect(merged.server).toBe('https://first.example');
    expect(merged.tls.serverName).toBeUndefined();
    expect((await loadConfig({ env, context: 'prod' })).server).toBe('https://prod.example:6443');
  });

  it('given a context in one file and its cluster and user in another, they are joined', async () => {
    const a = await write('a', 'current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]');
    const b = await write(
      'b',
      'clusters: [{name: c, cluster: {server: "http://b"}}]\nusers: [{name: u, user: {token: t}}]',
    );
    expect((await loadConfig({ env: { KUBECONFIG: `${a}:${b}` } })).server).toBe('http://b');
  });

  it('given no KUBECONFIG, a pod uses its service account, elsewhere ~/.kube/config is read', async () => {
    await write('home/.kube/config', kubeconfig('home'));
    await write('sa/token', 'pod-token');
    await write('sa/ca.crt', first.cert);
    await write('sa/namespace', 'team-a\n');
    const home = { HOME: join(directory, 'home') };
    expect((await loadConfig({ env: home })).server).toBe('https://home.example:6443');
    const pod = { ...home, KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    const config = await loadConfig({ env: pod, serviceAccountDirectory: join(directory, 'sa') });
    expect(config).toMatchObject({
      server: 'https://[fd00::1]:443',
      namespace: 'team-a',
      authentication: { type: 'token-file', file: join(directory, 'sa/token') },
    });
  });

  it('given paths in a kubeconfig, they are relative to its own folder', async () => {
    await write('pki/client.crt', first.cert);
    await write('pki/client.key', first.key);
    await write('pki/ca.crt', second.cert);
    const config = await load(
      kubeconfig('dev', {
        cluster: '{ server: "https://x/k8s/clusters/c-1/", certificate-authority: pki/ca.crt }',
        user: '{ client-certificate: pki/client.crt, client-key: ./pki/client.key }',
      }),
    );
    expect(config.server).toBe('https://x/k8s/clusters/c-1');
    expect(config.tls.ca).toEqual({ file: join(directory, 'pki/ca.crt') });
    expect(config.clientCertificate?.key).toEqual({ file: join(directory, 'pki/client.key') });
  });

  it('given no current-context but one context only, that one is meant', async () => {
    expect((await load(kubeconfig('dev', { current: '""' }))).context).toBe('dev');
  });
});

describe('what a user may be', () => {
  const exec = 'apiVersion: client.authentication.k8s.io/v1, command: ./bin/login, interactiveMode: Never';

  it.each([
    ['a token', '{ token: abc }', { type: 'token' }],
    ['a number as token', '{ token: 1234 }', { type: 'token' }],
    ['username and password', '{ username: me, password: abc }', { type: 'basic', username: 'me' }],
    ['nothing', '{}', { type: 'none' }],
  ])('given %s, that is how it authenticates', async (_, user, expected) => {
    expect((await load(kubeconfig('dev', { user }))).authentication).toMatchObject(expected);
  });

  it('given a token and a token file, the file wins', async () => {
    await write('token', 'from-file');
    const config = await load(kubeconfig('dev', { user: '{ token: abc, tokenFile: token }' }));
    expect(config.authentication).toEqual({ type: 'token-file', file: join(directory, 'token') });
  });

  it('given an exec plugin, its command is found beside the kubeconfig and it is told of the cluster if it asks', async () => {
    const cluster = `{ server: "https://x", insecure-skip-tls-verify: true, extensions: [{ name: client.authentication.k8s.io/exec, extension: { audience: y } }] }`;
    const user = `{ exec: { ${exec}, args: [a, b], env: [{ name: A, value: "1" }], provideClusterInfo: true, installHint: "brew install login" } }`;
    const { authentication } = await load(kubeconfig('dev', { user, cluster }));
    expect(authentication).toMatchObject({
      type: 'exec',
      exec: {
        command: join(directory, 'bin/login'),
        args: ['a', 'b'],
        env: { A: '1' },
        installHint: 'brew install login',
        cluster: { server: 'https://x', 'insecure-skip-tls-verify': true, config: { audience: 'y' } },
      },
    });
  });

  it('given impersonation, user, uid, groups and extra are kept', async () => {
    const user = '{ token: t, as: jane, as-uid: u1, as-groups: ["a,b", c], as-user-extra: { scopes: [x, y] } }';
    expect((await load(kubeconfig('dev', { user }))).impersonate).toEqual({
      user: 'jane',
      uid: 'u1',
      groups: ['a,b', 'c'],
      extra: { scopes: ['x', 'y'] },
    });
  });

  it('given secrets, printing the config in any way shows none of them', async () => {
    const data = Buffer.from(first.key).toString('base64');
    const cert = Buffer.from(first.cert).toString('base64');
    const user = `{ username: me, password: hunter2, client-certificate-data: ${cert}, client-key-data: ${data} }`;
    const cluster = '{ server: "https://x", proxy-url: "http://u:hunter3@proxy:1" }';
    const config = await load(kubeconfig('dev', { user, cluster }));
    for (const text of [inspect(config, { depth: 9, showHidden: true }), JSON.stringify(config), `${config.proxy}`]) {
      expect(text).not.toMatch(/hunter|BEGIN/);
      expect(text).toContain('[redacted]');
    }
  });
});

describe('proxies', () => {
  const proxyOf = async (cluster: string, env: Record<string, string>) =>
    (await load(kubeconfig('dev', { cluster }), { env })).proxy?.reveal();

  it('given HTTPS_PROXY, it is used; proxy-url of the cluster comes before it; NO_PROXY excepts', async () => {
    const env = { HTTPS_PROXY: 'http://env:3128' };
    expect(await proxyOf('{ server: "https://a.example" }', env)).toBe('http://env:3128');
    expect(await proxyOf('{ server: "https://a.example", proxy-url: "socks5://own:1" }', env)).toBe('socks5://own:1');
    expect(await proxyOf('{ server: "https://a.example" }', { ...env, NO_PROXY: 'example' })).toBeUndefined();
    expect(await proxyOf('{ server: "https://127.0.0.1:6443" }', env)).toBeUndefined();
    expect(await proxyOf('{ server: "http://a.example" }', env)).toBeUndefined();
    expect(await proxyOf('{ server: "https://a.example" }', { https_proxy: 'lower:1' })).toBe('http://lower:1');
  });
});

describe('bad configs name the file and the remedy', () => {
  const cert = Buffer.from(first.cert).toString('base64');
  const otherKey = Buffer.from(second.key).toString('base64');

  it.each<[string, Parameters<typeof kubeconfig>[1], LoadConfigOptions, string]>([
    ['an unknown context', {}, { context: 'prod' }, 'kubeconfig ~/config has no context "prod": choose one of "dev"'],
    [
      'a context without its cluster',
      { context: '{ cluster: gone }' },
      {},
      'context "dev" names the cluster "gone", which is not there: choose one of "dev"',
    ],
    [
      'a context without its user',
      { context: '{ cluster: dev, user: gone }' },
      {},
      'context "dev" names the user "gone", which is not there: choose one of "dev"',
    ],
    ['no server', { cluster: '{}' }, {}, 'cluster "dev": server is missing'],
    ['a server that is no URL', { cluster: '{ server: "nonsense" }' }, {}, 'server "nonsense" is no URL'],
    ['a server of another protocol', { cluster: '{ server: "ftp://x" }' }, {}, 'must begin with https://'],
    [
      'a missing CA file',
      { cluster: '{ server: "https://x", certificate-authority: ca.crt }' },
      {},
      '~/ca.crt cannot be read (it does not exist',
    ],
    [
      'CA data that is none',
      { cluster: '{ server: "https://x", certificate-authority-data: Zm9v }' },
      {},
      'the CA certificate (given inline): it holds no PEM certificate',
    ],
    [
      'insecure and a CA',
      { cluster: `{ server: "https://x", certificate-authority-data: ${cert}, insecure-skip-tls-verify: true }` },
      {},
      'exclude each other',
    ],
    [
      'a certificate without its key',
      { user: `{ client-certificate-data: ${cert} }` },
      {},
      'client-key is not: add it',
    ],
    [
      'a key of another certificate',
      { user: `{ client-certificate-data: ${cert}, client-key-data: ${otherKey} }` },
      {},
      'does not belong to the client certificate',
    ],
    [
      'a key that is none',
      { user: `{ client-certificate-data: ${cert}, client-key-data: Zm9v }` },
      {},
      'no usable PEM private key',
    ],
    ['a missing token file', { user: '{ tokenFile: gone }' }, {}, 'the token file ~/gone cannot be read'],
    [
      'an auth-provider',
      { user: '{ auth-provider: { name: gcp } }' },
      {},
      'auth-provider "gcp" was removed from Kubernetes clients in v1.26: use an exec plugin instead',
    ],
    [
      'two ways to authenticate',
      { user: '{ token: a, username: b }' },
      {},
      'user "dev": has a token and username/password: keep only one',
    ],
    ['groups without a user to act as', { user: '{ token: a, as-groups: [b] }' }, {}, 'need `as`'],
    [
      'an exec plugin of an old version',
      { user: '{ exec: { apiVersion: client.authentication.k8s.io/v1alpha1, command: x } }' },
      {},
      'exec.apiVersion is client.authentication.k8s.io/v1alpha1: it must be one of',
    ],
    [
      'an exec plugin without a mode',
      { user: '{ exec: { apiVersion: client.authentication.k8s.io/v1, command: x } }' },
      {},
      'exec.interactiveMode is missing',
    ],
    ['a wrong type', { user: '{ as: u, as-groups: oops }' }, {}, 'users[0].user.as-groups must be a list of strings'],
    [
      'a bad proxy',
      { cluster: '{ server: "https://x", proxy-url: "ftp://y" }' },
      {},
      'the proxy URL of cluster "dev" (proxy-url) is none',
    ],
  ])('%s', async (_, parts, options, expected) => {
    expect(await problemOf(kubeconfig('dev', parts), options)).toContain(expected);
  });

  it('bad YAML, with its line', async () => {
    expect(await problemOf('apiVersion: v1\nclusters: [\n  {name: "x}')).toMatch(
      /kubeconfig ~\/config, line 3: not valid YAML/,
    );
  });

  it('another kind of file, duplicate names, an empty file', async () => {
    expect(await problemOf('kind: Deployment')).toContain('kind is Deployment, not Config');
    expect(await problemOf('users: [{name: a, user: {}}, {name: a, user: {}}]')).toContain('two users are named "a"');
    expect(await problemOf('')).toContain('sets no current-context: it has none at all');
    expect(await problemOf('[1, 2]')).toContain('the file must be a mapping');
  });

  it('no file at all', async () => {
    const missing = join(directory, 'nowhere');
    await expect(loadConfig({ kubeconfig: missing })).rejects.toThrow(`kubeconfig ${missing} does not exist`);
    await expect(loadConfig({ env: { KUBECONFIG: missing } })).rejects.toThrow('unset KUBECONFIG');
    await expect(loadConfig({ env: { HOME: missing } })).rejects.toThrow(
      'no cluster to talk to: KUBECONFIG is not set',
    );
    await expect(loadConfig({ kubeconfig: directory })).rejects.toThrow('is a directory');
  });
});
