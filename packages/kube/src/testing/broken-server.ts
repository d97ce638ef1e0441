/** Servers that misbehave below HTTP, or at its edge: for tests of the transport, never to stand in for an API server. */
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { KubeConfig } from '../config/config.ts';
import { Secret } from '../config/secret.ts';

export interface Listening {
  readonly port: number;
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

export async function listen(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

export const serveHttp = (handler: RequestListener) => listen(createHttpServer(handler));
export const serveHttps = (options: ServerOptions, handler: RequestListener) =>
  listen(createHttpsServer(options, handler));
export const serveTcp = (handler: (socket: Socket) => void) => listen(createTcpServer(handler));

/** A config for a server on this machine. */
export function localConfig(server: string, parts: Partial<KubeConfig> = {}): KubeConfig {
  return {
    server,
    namespace: 'default',
    source: 'a test',
    user: 'tester',
    tls: { insecure: false },
    authentication: { type: 'token', token: new Secret('test-token') },
    disableCompression: false,
    ...parts,
  };
}
