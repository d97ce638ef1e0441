/** Which proxy to use for a server, by the environment variables that curl, Go and kubectl honour. */
import { BlockList, isIP } from 'node:net';
import { Fault } from '../fault.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The proxy URL that the environment asks for, or undefined when the server is to be reached directly. */
export function proxyFromEnv(server: URL, env: Env): string | undefined {
  const either = (name: string) => env[name] || env[name.toLowerCase()] || undefined;
  const proxy = server.protocol === 'https:' ? either('HTTPS_PROXY') : either('HTTP_PROXY');
  if (proxy === undefined || isLoopback(hostOf(server)) || matchesNoProxy(server, either('NO_PROXY') ?? ''))
    return undefined;
  return proxyUrl(proxy.includes('://') ? proxy : `http://${proxy}`, 'the environment (HTTPS_PROXY/HTTP_PROXY)');
}

/** Checks a proxy URL; `source` names where it stands. */
export function proxyUrl(value: string, source: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !['http:', 'https:', 'socks5:'].includes(url.protocol)) {
    throw new Fault('BadConfig', `the proxy URL of ${source} is none: write http://host:port, https://… or socks5://…`);
  }
  return value;
}

/** NO_PROXY: `*`, names (and what is below them), `.suffix`, `*.suffix`, addresses, CIDR ranges, each with an optional port. */
export function matchesNoProxy(server: URL, noProxy: string): boolean {
  const host = hostOf(server);
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  return noProxy
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      if (entry.includes('/')) return inRange(host, entry);
      const [name, wantedPort] = splitPort(entry.toLowerCase());
      if (wantedPort !== undefined && wantedPort !== port) return false;
      if (isIP(name) !== 0) return name === host;
      if (name.startsWith('*.')) return host.endsWith(name.slice(1));
      return name.startsWith('.') ? host.endsWith(name) : host === name || host.endsWith(`.${name}`);
    });
}

function hostOf(server: URL): string {
  return server.hostname.replace(/^\[|\]$/g, '').toLowerCase();
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function splitPort(entry: string): [name: string, port: string | undefined] {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(entry);
  return match === null ? [entry, undefined] : [match[1] ?? match[2] ?? entry, match[3]];
}

function inRange(host: string, range: string): boolean {
  const [network = '', prefix = ''] = range.split('/');
  const family = isIP(host);
  if (family === 0 || isIP(network) !== family || !/^\d+$/.test(prefix)) return false;
  if (Number(prefix) > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const block = new BlockList();
  block.addSubnet(network, Number(prefix), type);
  return block.check(host, type);
}
