import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

/** One request on its way through the proxy, as rules and hooks see it. */
export interface Exchange {
  /** 1 for the first request that the proxy saw. */
  readonly number: number;
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  /** Whether it opens a watch stream. */
  readonly watch: boolean;
  /** Whether it would change something: dry runs, access reviews and token requests do not count. */
  readonly write: boolean;
  /** Whom the client claims to be, by certificate or token; '' for an anonymous one. */
  readonly user: string;
}

/** Which requests; every field that is set must fit. */
export interface ExchangeMatch {
  readonly method?: string | readonly string[];
  /** Tested against path and query. */
  readonly path?: RegExp;
  readonly watch?: boolean;
  readonly write?: boolean;
  readonly user?: string | RegExp;
}

/** Who is at the other end: nobody known, somebody with a valid certificate, or somebody with a bad one. */
export type Peer =
  | { readonly kind: 'none' }
  | { readonly kind: 'certificate'; readonly user: string; readonly groups: readonly string[] }
  | { readonly kind: 'refused'; readonly why: string };

const readMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
const virtualPath =
  /^\/apis\/(authentication|authorization)\.k8s\.io\/|\/serviceaccounts\/[^/]+\/token\b|[?&]dryRun=All\b/;

/** Describes a request. */
export function toExchange(request: IncomingMessage, peer: Peer, number: number): Exchange {
  const { method = 'GET', url: path = '/' } = request;
  return {
    number,
    method,
    path,
    watch: method === 'GET' && /[?&]watch=(true|1)\b/.test(path),
    write: !readMethods.has(method) && !virtualPath.test(path),
    user: peer.kind === 'certificate' ? peer.user : tokenSubject(request.headers.authorization),
  };
}

/** Says whether an exchange fits. */
export function matches(exchange: Exchange, match: ExchangeMatch): boolean {
  const { method, path, user } = match;
  if (method !== undefined && !(typeof method === 'string' ? [method] : method).includes(exchange.method)) return false;
  if (path && exchange.path.search(path) < 0) return false;
  if (match.watch !== undefined && match.watch !== exchange.watch) return false;
  if (match.write !== undefined && match.write !== exchange.write) return false;
  if (user === undefined) return true;
  return typeof user === 'string' ? exchange.user === user : exchange.user.search(user) >= 0;
}

/** Reads who presented which client certificate. */
export function toPeer(socket: TLSSocket): Peer {
  const { subject } = socket.getPeerCertificate();
  if (!subject) return { kind: 'none' };
  if (!socket.authorized) return { kind: 'refused', why: String(socket.authorizationError) };
  const list = (value: string | string[] | undefined) => (value === undefined ? [] : [value].flat());
  return { kind: 'certificate', user: list(subject.CN)[0] ?? '', groups: list(subject.O) };
}

/** The subject of a bearer token, unchecked: only to know whose requests a rule is about. */
function tokenSubject(authorization: string | undefined): string {
  const payload = /^Bearer [\w-]+\.([\w-]+)\./i.exec(authorization ?? '')?.[1];
  if (payload === undefined) return '';
  try {
    return (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub?: string }).sub ?? '';
  } catch {
    return '';
  }
}
