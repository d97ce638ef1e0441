import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../config/secret.ts';
import { createClient } from '../create-client.ts';
import { isFault } from '../fault.ts';
import { type Listening, listen, localConfig, serveHttps, serveTcp } from '../testing/broken-server.ts';
import { first } from '../testing/pem.ts';

const pods = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' } as const;
const ref = { name: 'p', namespace: 'n' };
let target: Listening;
let cleanUp: (() => Promise<unknown>)[];

beforeEach(async () => {
  target = await serveHttps(first, (_, response) => response.end('{"kind":"Pod","metadata":{"name":"p"}}'));
  cleanUp = [() => target.close()];
});

afterEach(async () => {
  for (const each of cleanUp.reverse()) await each();
});

/** Gets a pod through a proxy; the name in the URL is one that only the proxy knows. */
async function getThrough(proxy: string): Promise<string> {
  const config = localConfig(`https://localhost:${target.port}`, {
    tls: { ca: { data: new Secret(first.cert) }, insecure: false },
    proxy: new Secret(proxy),
  });
  const client = createClient(config);
  cleanUp.push(() => client.close());
  return client.get(pods, ref).then(
    (pod) => `got ${pod.metadata.name}`,
    (error: unknown) => {
      if (!isFault(error)) throw error;
      return `${error.code}: ${error.message}`;
    },
  );
}

function tunnel(client: Socket, port: number): void {
  const upstream = connect(port, '127.0.0.1');
  client.pipe(upstream).on('error', () => client.destroy());
  upstream.pipe(client).on('error', () => upstream.destroy());
}

describe('an HTTP proxy', () => {
  async function serve(
    allowed: (authorization: string | undefined) => boolean,
  ): Promise<{ port: number; asked: string[] }> {
    const asked: string[] = [];
    const server = createServer();
    server.on('connect', (request, client: Socket) => {
      asked.push(request.url ?? '');
      if (!allowed(request.headers['proxy-authorization']))
        return client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      return tunnel(client, target.port);
    });
    const proxy = await listen(server);
    cleanUp.push(() => proxy.close());
    return { port: proxy.port, asked };
  }

  it('given a proxy, TLS goes end to end through its tunnel', async () => {
    const proxy = await serve(() => true);
    expect(await getThrough(`http://127.0.0.1:${proxy.port}`)).toBe('got p');
    expect(proxy.asked).toEqual([`localhost:${target.port}`]);
  });

  it('given a proxy that wants a password, that of its URL is sent; without one the fault says so and shows none', async () => {
    const basic = `Basic ${Buffer.from('me:hunter2').toString('base64')}`;
    const proxy = await serve((authorization) => authorization === basic);
    expect(await getThrough(`http://me:hunter2@127.0.0.1:${proxy.port}`)).toBe('got p');
    const refused = await getThrough(`http://me:wrong@127.0.0.1:${proxy.port}`);
    expect(refused).toContain('Unreachable');
    expect(refused).toContain('the proxy answered 407; it wants a user and password in its URL');
    expect(refused).not.toContain('wrong@');
  });

  it('given a proxy that is not there, the fault is about reaching it', async () => {
    const closed = await serveTcp(() => undefined);
    await closed.close();
    expect(await getThrough(`http://127.0.0.1:${closed.port}`)).toMatch(
      /^Unreachable: cannot reach .* through its proxy: connection refused/,
    );
  });
});

describe('a SOCKS5 proxy', () => {
  it('given socks5://, TLS goes end to end through it', async () => {
    let greetings = 0;
    const proxy = await serveTcp((socket) => {
      socket.once('data', () => {
        greetings += 1;
        socket.write(Buffer.of(5, 0));
        socket.once('data', () => {
          socket.write(Buffer.of(5, 0, 0, 1, 127, 0, 0, 1, 0, 0));
          tunnel(socket, target.port);
        });
      });
    });
    cleanUp.push(() => proxy.close());
    expect(await getThrough(`socks5://127.0.0.1:${proxy.port}`)).toBe('got p');
    expect(greetings).toBe(1);
  });
});
