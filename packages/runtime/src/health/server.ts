/**
 * The HTTP server for probes and Prometheus: /healthz (is the process alive), /readyz (can it be relied on), /readyz/<operator>
 * (can this operator do its work), /metrics.
 * `?verbose` gives every finding as JSON. It knows nothing of what it serves; manager/ gives it the routes.
 *
 * Invariant: whatever comes in, it answers and goes on: a request that cannot be read is a 400, a route that throws a 500. Nothing
 * that a stranger sends to an open port may end the process.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Fault } from '@keelson/kube';
import type { Health } from './checks.ts';

export interface Address {
  /** 0 takes a free one. */
  readonly port: number;
  /** Default: all interfaces. */
  readonly host?: string;
}

export type Route = (isVerbose: boolean) => Promise<{ status: number; contentType: string; body: string }>;

export interface HttpServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens and serves; rejects with a fault that names the port and the remedy when it cannot. */
export async function startHttpServer(
  address: Address,
  routes: Readonly<Record<string, Route>>,
  purpose: string,
): Promise<HttpServer> {
  const server = createServer((request, response) => void serve(request, response, routes));
  // A probe that hangs must not keep a stopping process.
  server.requestTimeout = 10_000;
  await listen(server, address, purpose);
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A route that answers 200 or 503 by a health. */
export function toHealthRoute(check: () => Health): Route {
  return async (isVerbose) => {
    const health = check();
    const status = health.ok ? 200 : 503;
    if (isVerbose) return { status, contentType: 'application/json', body: `${JSON.stringify(health, null, 2)}\n` };
    const wrong = health.findings.filter(({ state }) => state === 'failed');
    const body = health.ok ? 'ok' : wrong.map(({ subject, message }) => `${subject}: ${message}`).join('\n');
    return { status, contentType: 'text/plain; charset=utf-8', body: `${body}\n` };
  };
}

/** Answers one request; never throws, because nobody waits for it. */
async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  routes: Readonly<Record<string, Route>>,
): Promise<void> {
  try {
    await answer(request, response, routes);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else {
      const reason = error instanceof Error ? error.message : String(error);
      response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(`failed: ${reason}\n`);
    }
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  routes: Readonly<Record<string, Route>>,
): Promise<void> {
  const target = URL.parse(request.url ?? '/', 'http://localhost');
  if (target === null) {
    response.writeHead(400, { 'content-type': 'text/plain' }).end('cannot read the path\n');
    return;
  }
  const { pathname, searchParams } = target;
  const route = Object.hasOwn(routes, pathname) ? routes[pathname] : undefined;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
  } else if (route === undefined) {
    const known = Object.keys(routes).join(' ');
    response.writeHead(404, { 'content-type': 'text/plain' }).end(`nothing here; there is ${known}\n`);
  } else {
    const { status, contentType, body } = await route(searchParams.has('verbose'));
    response.writeHead(status, { 'content-type': contentType }).end(request.method === 'HEAD' ? undefined : body);
  }
}

function listen(server: Server, { port, host }: Address, purpose: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const where = `${host ?? '*'}:${port}`;
      const remedy =
        error.code === 'EADDRINUSE'
          ? 'another process has this port: stop it, or choose another port'
          : error.code === 'EACCES'
            ? 'this user may not open it: choose a port from 1024 on'
            : error.code === 'EADDRNOTAVAIL'
              ? 'this machine has no such address: choose another host'
              : error.message;
      reject(new Fault('BadConfig', `${purpose} cannot listen on ${where}: ${remedy}`, {}, error));
    });
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      // From here on an error is one connection that could not be accepted: its probe is repeated.
      server.removeAllListeners('error').on('error', () => undefined);
      resolve();
    });
  });
}
