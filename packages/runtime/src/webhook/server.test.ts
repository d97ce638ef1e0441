import { Agent, request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { connect } from 'node:tls';
import { systemClock } from '@keelson/kube';
import { afterEach, describe, expect, it } from 'vitest';
import { issueAuthority, issueCertificate } from '../certificates/issue.ts';
import { silentLogger } from '../logging/logger.ts';
import type { WebhookObserver } from './observer.ts';
import { silentObserver } from './observer.ts';
import type { Route } from './server.ts';
import { WebhookServer } from './server.ts';

const authority = await issueAuthority({ now: Date.now(), lifetimeMs: 600_000 });
const issue = () => issueCertificate(authority, { now: Date.now(), lifetimeMs: 600_000, names: ['127.0.0.1'] });
const echo: Route = { bodyLimitBytes: 1000, answer: (body) => ({ code: 200, body: { echo: body } }) };

const running: { stop(options: { drainMs: number; deadlineMs: number }): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop({ drainMs: 0, deadlineMs: 100 });
});

async function serve(
  routes: Record<string, Route> = { '/echo': echo },
  options: { observer?: WebhookObserver; requestTimeoutMs?: number } = {},
) {
  const server = new WebhookServer({
    routes: new Map(Object.entries(routes)),
    host: '127.0.0.1',
    port: 0,
    observer: silentObserver,
    logger: silentLogger,
    clock: systemClock,
    ...options,
  });
  running.push(server);
  const port = await server.listen();
  const serving = await issue();
  server.use({ cert: serving.certificate.pem, key: serving.keyPem });
  return { server, port };
}

interface Call {
  port: number;
  path?: string;
  method?: string;
  body?: string;
  headers?: Record<string, string>;
  agent?: Agent;
}

function call({ port, path = '/echo', method = 'POST', body = '{}', headers = {}, agent }: Call) {
  return new Promise<{ code: number; body: string; serial: string; connection: string | undefined }>(
    (resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port,
        path,
        method,
        ca: authority.certificate.pem,
        agent: agent ?? false,
        headers: { 'content-type': 'application/json', ...headers },
      } as const;
      const outgoing = request(options, (response) => {
        const { serialNumber } = (response.socket as ReturnType<typeof connect>).getPeerCertificate();
        let text = '';
        response
          .setEncoding('utf8')
          .on('data', (chunk) => {
            text += chunk;
          })
          .on('end', () =>
            resolve({
              code: response.statusCode ?? 0,
              body: text,
              serial: serialNumber,
              connection: response.headers.connection,
            }),
          );
      });
      outgoing.on('error', reject).end(body);
    },
  );
}

describe('the webhook server', () => {
  it('answers a request over TLS', async () => {
    const { port } = await serve();
    expect(await call({ port, body: '{"a":1}' })).toMatchObject({ code: 200, body: '{"echo":{"a":1}}' });
    expect((await call({ port, path: '/echo?timeout=10s' })).code).toBe(200);
  });

  it.each<[string, Omit<Call, 'port'>, number, string]>([
    [
      'an unknown path',
      { path: '/validate/other' },
      404,
      'there is no webhook at /validate/other: this process serves /echo',
    ],
    ['a path that is none', { path: '//' }, 400, "cannot read the path '//'"],
    ['a GET', { method: 'GET', body: '' }, 405, 'use POST, not GET'],
    ['a form', { headers: { 'content-type': 'text/plain' } }, 415, "must be application/json, not 'text/plain'"],
    ['a body that is no JSON', { body: '{"a":' }, 400, 'the body is not JSON'],
    ['an empty body', { body: '' }, 400, 'the body is not JSON'],
    ['a body that says it is too large', { body: JSON.stringify('x'.repeat(2000)) }, 413, 'larger than 1000 bytes'],
    [
      'a body that turns out to be too large',
      { body: JSON.stringify('x'.repeat(2000)), headers: { 'transfer-encoding': 'chunked' } },
      413,
      'larger than 1000 bytes',
    ],
  ])('answers %s with a Status that says what is wrong, and goes on', async (_, options, code, text) => {
    const { port } = await serve();
    const answer = await call({ port, ...options });
    expect(answer.code).toBe(code);
    expect(JSON.parse(answer.body)).toMatchObject({
      kind: 'Status',
      status: 'Failure',
      code,
      message: expect.stringContaining(text),
    });
    expect((await call({ port })).code).toBe(200);
  });

  it('survives a route that throws, garbage instead of TLS, and callers that hang up', async () => {
    const heard: string[] = [];
    const observer: WebhookObserver = {
      ...silentObserver,
      threw: (webhook) => heard.push(`threw ${webhook}`),
      handshakeFailed: () => heard.push('handshake'),
      finished: ({ webhook, code }) => heard.push(`${webhook} ${code}`),
    };
    const { port } = await serve(
      {
        '/echo': echo,
        '/bug': {
          ...echo,
          answer: () => {
            throw new Error('oops');
          },
        },
      },
      { observer },
    );
    expect((await call({ port, path: '/bug' })).code).toBe(500);
    await new Promise((resolve) =>
      connectPlain(port, '127.0.0.1')
        .on('close', resolve)
        .on('error', () => undefined)
        .end('GET / HTTP/1.1\r\n\r\n'),
    );
    const socket = connect({ port, host: '127.0.0.1', ca: authority.certificate.pem });
    await new Promise((resolve) =>
      socket.write(
        'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
        resolve,
      ),
    );
    await systemClock.sleep(50);
    socket.destroy();
    await systemClock.sleep(50);
    expect(await call({ port })).toMatchObject({ code: 200 });
    expect(heard).toEqual(['threw /bug', '/bug 500', 'handshake', '/echo 499', '/echo 200']);
  });

  it('gives up on a caller that does not finish its request', async () => {
    const { port } = await serve(undefined, { requestTimeoutMs: 200 });
    const socket = connect({ port, host: '127.0.0.1', ca: authority.certificate.pem });
    const closed = new Promise<string>((resolve) => {
      let text = '';
      socket
        .on('data', (chunk) => {
          text += chunk;
        })
        .on('close', () => resolve(text));
    });
    socket.write('POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{');
    expect(await closed).toContain('408');
  });

  it('counts what is in flight and how long it took', async () => {
    let inFlight = 0;
    const seen: unknown[] = [];
    const observer: WebhookObserver = {
      ...silentObserver,
      started: () => {
        inFlight += 1;
      },
      finished: ({ webhook, code, seconds }) => {
        inFlight -= 1;
        seen.push([webhook, code, seconds >= 0 && seconds < 5]);
      },
    };
    const { port } = await serve(undefined, { observer });
    await Promise.all([call({ port }), call({ port, body: '{' })]);
    await systemClock.sleep(20);
    expect(inFlight).toBe(0);
    expect(seen.sort()).toEqual([
      ['/echo', 200, true],
      ['/echo', 400, true],
    ]);
  });

  it('changes its certificate without touching open connections', async () => {
    const { server, port } = await serve();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const before = await call({ port, agent });
    const next = await issue();
    server.use({ cert: next.certificate.pem, key: next.keyPem });
    expect((await call({ port, agent })).serial).toBe(before.serial);
    const fresh = await call({ port });
    expect(fresh.code).toBe(200);
    expect(fresh.serial).not.toBe(before.serial);
    agent.destroy();
  });

  it('says which port is taken and what to do', async () => {
    const { port } = await serve();
    const second = new WebhookServer({
      routes: new Map(),
      host: '127.0.0.1',
      port,
      observer: silentObserver,
      logger: silentLogger,
      clock: systemClock,
    });
    await expect(second.listen()).rejects.toThrow(
      `webhooks cannot listen on 127.0.0.1:${port}: another process has this port: stop it, or choose another port`,
    );
  });

  it('keeps answering while it drains, tells callers to go elsewhere, and then is gone', async () => {
    const { server, port } = await serve();
    const agent = new Agent({ keepAlive: true });
    expect((await call({ port, agent })).connection).toBe('keep-alive');
    const stopped = server.stop({ drainMs: 300, deadlineMs: 1000 });
    expect(await call({ port, agent })).toMatchObject({ code: 200, connection: 'close' });
    expect((await call({ port })).code).toBe(200);
    await stopped;
    await expect(call({ port })).rejects.toThrow(/ECONNREFUSED/);
    agent.destroy();
  });

  it('answers a request that is under way when it stops, and drops one that misses the deadline', async () => {
    const { server, port } = await serve();
    const begin = () => {
      const socket = connect({ port, host: '127.0.0.1', ca: authority.certificate.pem });
      const text = new Promise<string>((resolve) => {
        let all = '';
        socket
          .on('data', (chunk) => {
            all += chunk;
          })
          .on('close', () => resolve(all))
          .on('error', () => undefined);
      });
      socket.write('POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{');
      return { socket, text };
    };
    const [quick, slow] = [begin(), begin()];
    await systemClock.sleep(100);
    const stopped = server.stop({ drainMs: 0, deadlineMs: 500 });
    quick.socket.write('}');
    await stopped;
    expect(await quick.text).toContain('200 OK');
    expect(await slow.text).toBe('');
  });
});
