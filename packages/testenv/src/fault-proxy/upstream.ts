/**
 * The proxy's way to the API server, on behalf of its clients.
 *
 * A client certificate ends at the proxy, so its identity is passed on as Kubernetes front proxies do: a certificate of
 * the front-proxy authority, and the user and groups in X-Remote headers. A bearer token is passed on untouched. So RBAC
 * and the audit log see the true user.
 */
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import type { KeyPair } from '../pki.ts';
import type { Peer } from './exchange.ts';

// Between two hops only (RFC 9110 §7.6.1), or for this connection's framing.
const hopHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Sends requests to one API server. */
export class Upstream {
  readonly #url: string;
  readonly #asFrontProxy: Agent;
  readonly #asIs: Agent;

  constructor(url: string, authority: string, frontProxy: KeyPair) {
    this.#url = url;
    this.#asIs = new Agent({ keepAlive: true, ca: authority });
    this.#asFrontProxy = new Agent({
      keepAlive: true,
      ca: authority,
      cert: frontProxy.certificate,
      key: frontProxy.key,
    });
  }

  /** Opens a request like the incoming one; its body is the caller's to send. */
  open(incoming: IncomingMessage, peer: Peer): ClientRequest {
    const headers: OutgoingHttpHeaders = passableHeaders(incoming.headers);
    const isKnown = peer.kind === 'certificate';
    if (isKnown) {
      headers['x-remote-user'] = peer.user;
      if (peer.groups.length > 0) headers['x-remote-group'] = [...peer.groups];
    }
    return request(new URL(incoming.url ?? '/', this.#url), {
      method: incoming.method ?? 'GET',
      headers,
      agent: isKnown ? this.#asFrontProxy : this.#asIs,
    });
  }

  /** Closes every connection. */
  close(): void {
    this.#asFrontProxy.destroy();
    this.#asIs.destroy();
  }
}

/** The headers that concern the other end; nobody but the proxy may say who the user is. */
export function passableHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => name !== 'host' && !hopHeaders.has(name) && !name.startsWith('x-remote-'),
    ),
  );
}
