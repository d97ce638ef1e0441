import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { toHealth } from './checks.ts';
import { type HttpServer, startHttpServer, toHealthRoute } from './server.ts';

let server: HttpServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function serve(): Promise<number> {
  server = await startHttpServer(
    { port: 0, host: '127.0.0.1' },
    {
      '/healthz': toHealthRoute(() => toHealth([])),
      '/metrics': () => Promise.reject(new Error('a collector of the operator failed')),
    },
    'health',
  );
  return server.port;
}

/** Sends bytes as they are: `fetch` would put a target in order first. */
function send(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.setEncoding('utf8').setTimeout(3_000, () => socket.destroy(new Error('no answer')));
    socket
      .on('data', (chunk) => {
        answer += chunk;
      })
      .on('error', reject)
      .on('close', () => resolve(answer));
  });
}
const get = (port: number, target: string) =>
  send(port, `GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);

describe('the server for probes', () => {
  it.each(['//', 'http://[', '*', '/%', '//:80/healthz'])(
    'given GET %s, it answers with a refusal and goes on',
    async (target) => {
      const port = await serve();
      expect(await get(port, target)).toMatch(/^HTTP\/1.1 40[04] /);
      expect(await get(port, '/healthz')).toMatch(/^HTTP\/1.1 200 /);
    },
  );

  it('given a metric that throws, it answers 500 with the reason and goes on', async () => {
    const port = await serve();
    const answer = await get(port, '/metrics');
    expect(answer).toMatch(/^HTTP\/1.1 500 /);
    expect(answer).toContain('a collector of the operator failed');
    expect(await get(port, '/healthz?verbose')).toMatch(/^HTTP\/1.1 200 /);
  });
});
