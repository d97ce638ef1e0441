import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import type { KubeClient } from '../client.ts';
import type { KubeConfig } from '../config/config.ts';
import { Secret } from '../config/secret.ts';
import { type ClientOptions, createClient } from '../create-client.ts';
import { isFault } from '../fault.ts';
import { type Listening, listen, localConfig, serveHttp, serveHttps, serveTcp } from '../testing/broken-server.ts';
import { expired, first, second, stranger } from '../testing/pem.ts';
import { version } from '../version.ts';

const pods = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' } as const;
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n' } };
const ref = { name: 'p', namespace: 'n' };
const answer = JSON.stringify(pod);

let cleanUp: (() => Promise<unknown>)[];

beforeEach(() => {
  cleanUp = [];
});

afterEach(async () => {
  for (const each of cleanUp.reverse()) await each();
});

async function up(starting: Promise<Listening>): Promise<Listening> {
  const server = await starting;
  cleanUp.push(() => server.close());
  return server;
}

function clientFor(config: KubeConfig, options: ClientOptions = {}): KubeClient {
  const client = createClient(config, options);
  cleanUp.push(() => client.close());
  return client;
}

async function faultOf(
  promise: Promise<unknown>,
): Promise<{ code: string; message: string; maybeDone: boolean | undefined }> {
  const error: unknown = await promise.then(
    () => new Error('no fault'),
    (problem: unknown) => problem,
  );
  if (!isFault(error)) throw error;
  return { code: error.code, message: error.message, maybeDone: error.details.maybeDone };
}

const ca = (cert: string) => ({ tls: { ca: { data: new Secret(cert) }, insecure: false } });

describe('a server that cannot be reached', () => {
  it('given a closed port, the fault says so in plain words', async () => {
    const server = await serveTcp(() => undefined);
    await server.close();
    const url = `http://127.0.0.1:${server.port}`;
    expect(await faultOf(clientFor(localConfig(url)).get(pods, ref))).toMatchObject({
      code: 'Unreachable',
      message: `cannot reach ${url}: connection refused; is the API server running?`,
      maybeDone: undefined,
    });
  });

  it('given an unknown host name', async () => {
    const fault = await faultOf(clientFor(localConfig('https://no-such-host.invalid')).get(pods, ref));
    expect(fault.code).toBe('Unreachable');
    expect(fault.message).toMatch(
      /^cannot reach https:\/\/no-such-host\.invalid: (the host name is not known|DNS does not answer)/,
    );
  });

  it.each([
    ['an unknown CA', first, ca(second.cert), 'not signed by the CA of the config'],
    ['no CA at all', first, {}, 'not signed by the CA of the config'],
    ['an expired certificate', expired, ca(expired.cert), 'has expired; renew it (CERT_HAS_EXPIRED)'],
    [
      'a certificate for another name',
      stranger,
      ca(stranger.cert),
      'is for another name; correct the server URL or set tls-server-name',
    ],
  ])('given %s, the handshake is refused and the fault says why', async (_, identity, config, expected) => {
    const server = await up(serveHttps(identity, (_, response) => response.end(answer)));
    const fault = await faultOf(clientFor(localConfig(`https://127.0.0.1:${server.port}`, config)).get(pods, ref));
    expect(fault).toMatchObject({ code: 'TlsRefused', message: expect.stringContaining(expected) });
  });

  it('given tls-server-name or insecure-skip-tls-verify, that certificate is accepted', async () => {
    const server = await up(serveHttps(stranger, (_, response) => response.end(answer)));
    const url = `https://127.0.0.1:${server.port}`;
    const named = { tls: { ca: { data: new Secret(stranger.cert) }, insecure: false, serverName: 'other.example' } };
    expect(await clientFor(localConfig(url, named)).get(pods, ref)).toMatchObject({ kind: 'Pod' });
    expect(await clientFor(localConfig(url, { tls: { insecure: true } })).get(pods, ref)).toMatchObject({
      kind: 'Pod',
    });
  });

  it('given a server without TLS behind an https URL', async () => {
    const server = await up(serveHttp((_, response) => response.end(answer)));
    const fault = await faultOf(clientFor(localConfig(`https://127.0.0.1:${server.port}`)).get(pods, ref));
    expect(fault).toMatchObject({ code: 'TlsRefused', message: expect.stringContaining('does not speak TLS') });
  });
});

describe('a connection that breaks', () => {
  it('given a break before the answer, a read is repeated and a create is not, and the fault says that it may be done', async () => {
    const seen: string[] = [];
    const server = await up(
      serveHttp((request, response) => {
        seen.push(request.method ?? '');
        if (seen.length === 1) request.socket.destroy();
        else response.end(answer);
      }),
    );
    const client = clientFor(localConfig(`http://127.0.0.1:${server.port}`));
    expect(await client.get(pods, ref)).toMatchObject({ kind: 'Pod' });
    expect(seen).toEqual(['GET', 'GET']);
    seen.length = 0;
    expect(await faultOf(client.create(pods, pod))).toMatchObject({ code: 'Unreachable', maybeDone: true });
    expect(seen).toEqual(['POST']);
    seen.length = 0;
    await client.apply(pods, pod, { fieldManager: 'me' });
    expect(seen).toEqual(['PATCH', 'PATCH']);
  });

  it('given a break before anything was sent, a create is repeated', async () => {
    let connections = 0;
    const server = await up(
      serveTcp((socket) => {
        connections += 1;
        // A reset in the middle of the TLS handshake: no request can have arrived.
        socket.resetAndDestroy();
      }),
    );
    const fault = await faultOf(clientFor(localConfig(`https://127.0.0.1:${server.port}`)).create(pods, pod));
    expect(fault).toMatchObject({ code: 'Unreachable', maybeDone: undefined });
    expect(connections).toBe(4);
  });

  it('given half an answer, it is no answer', async () => {
    const server = await up(
      serveTcp((socket) =>
        socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"kind":')),
      ),
    );
    const fault = await faultOf(clientFor(localConfig(`http://127.0.0.1:${server.port}`)).get(pods, ref));
    expect(fault.code).toBe('Unreachable');
  });

  it('given something that is no HTTP, or no JSON, the fault asks whether it is an API server', async () => {
    const noise = await up(serveTcp((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH\r\n'))));
    expect((await faultOf(clientFor(localConfig(`http://127.0.0.1:${noise.port}`)).get(pods, ref))).code).toBe(
      'Unreachable',
    );
    const page = await up(serveHttp((_, response) => response.setHeader('content-type', 'text/html').end('<html>')));
    expect(await faultOf(clientFor(localConfig(`http://127.0.0.1:${page.port}`)).get(pods, ref))).toMatchObject({
      code: 'UnexpectedAnswer',
      message: expect.stringContaining('no Kubernetes object (text/html); is the server URL that of an API server?'),
    });
  });
});

describe('time limits', () => {
  it('given a server that never answers, the call ends after its time limit', async () => {
    const server = await up(serveHttp(() => undefined));
    const fault = await faultOf(
      clientFor(localConfig(`http://127.0.0.1:${server.port}`)).get(pods, ref, { timeoutMs: 200 }),
    );
    expect(fault).toMatchObject({ code: 'TimedOut', message: expect.stringContaining('gave no answer within 0.2 s') });
    expect(
      (await faultOf(clientFor(localConfig(`http://127.0.0.1:${server.port}`), { timeoutMs: 100 }).create(pods, pod)))
        .maybeDone,
    ).toBe(true);
  });

  it('given a body that drips for ever, the call ends after its time limit', async () => {
    const server = await up(
      serveHttp((_, response) => {
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      }),
    );
    const client = clientFor(localConfig(`http://127.0.0.1:${server.port}`));
    expect((await faultOf(client.list(pods, { timeoutMs: 200 }))).code).toBe('TimedOut');
  });

  it('given an aborted signal, the call rejects at once with its reason and the connection is freed', async () => {
    const server = await up(serveHttp(() => undefined));
    const client = clientFor(localConfig(`http://127.0.0.1:${server.port}`));
    const controller = new AbortController();
    const call = client.get(pods, ref, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 50);
    await expect(call).rejects.toThrow('enough');
    await expect.poll(() => server.sockets.size).toBe(0);
    await expect(client.get(pods, ref, { signal: controller.signal })).rejects.toThrow('enough');
  });
});

describe('answers that ask to come back', () => {
  it('given 429 with Retry-After, the call waits as long as asked and goes on; observers hear of it', async () => {
    let requests = 0;
    const server = await up(
      serveHttp((_, response) => {
        requests += 1;
        if (requests < 3) response.writeHead(429, { 'retry-after': '1' }).end('too many');
        else response.setHeader('warning', '299 - "old API"').end(answer);
      }),
    );
    const heard: unknown[] = [];
    const slept: number[] = [];
    const clock = {
      now: () => Date.now(),
      monotonic: () => performance.now(),
      random: () => 0,
      sleep: async (ms: number) => {
        slept.push(ms);
      },
    };
    const observer = {
      onRequest: (report: { code: string; method: string; verb: string; resource?: string }) =>
        heard.push([report.method, report.verb, report.resource, report.code]),
      onRetry: (report: { attempt: number; delayMs: number }) => heard.push(['retry', report.attempt, report.delayMs]),
      onWarning: (text: string) => heard.push(text),
    };
    const client = clientFor(localConfig(`http://127.0.0.1:${server.port}`), { clock, observer });
    await client.create(pods, pod);
    expect(slept).toEqual([1_000, 1_000]);
    expect(heard).toEqual([
      ['POST', 'create', 'pods', '429'],
      ['retry', 1, 1_000],
      ['POST', 'create', 'pods', '429'],
      ['retry', 2, 1_000],
      ['POST', 'create', 'pods', '200'],
      'old API',
    ]);
  });

  it('given a Retry-After beyond the time limit, it fails at once instead of waiting in vain', async () => {
    const server = await up(serveHttp((_, response) => response.writeHead(429, { 'retry-after': '3600' }).end()));
    const startedAt = performance.now();
    const fault = await faultOf(clientFor(localConfig(`http://127.0.0.1:${server.port}`)).get(pods, ref));
    expect(fault.code).toBe('TooManyRequests');
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it('given an eviction that a budget forbids (429), it is not repeated', async () => {
    let requests = 0;
    const server = await up(
      serveHttp((_, response) => {
        requests += 1;
        response.writeHead(429).end();
      }),
    );
    const client = clientFor(localConfig(`http://127.0.0.1:${server.port}`));
    expect((await faultOf(client.create(pods, pod, { subresource: 'eviction' }))).code).toBe('TooManyRequests');
    expect(requests).toBe(1);
  });
});

describe('who we are', () => {
  it('given a 401 and a token file that changed, the new token is tried once; a second 401 is a fault that names the file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'keelson-transport-'));
    cleanUp.push(() => rm(directory, { recursive: true }));
    const file = join(directory, 'token');
    await writeFile(file, 'old');
    const seen: (string | undefined)[] = [];
    let good = 'new';
    const server = await up(
      serveHttp((request, response) => {
        seen.push(request.headers.authorization);
        response.writeHead(request.headers.authorization === `Bearer ${good}` ? 200 : 401).end(answer);
      }),
    );
    const client = clientFor(
      localConfig(`http://127.0.0.1:${server.port}`, { authentication: { type: 'token-file', file } }),
    );
    expect((await faultOf(client.get(pods, ref))).message).toContain(`the token in ${file} was refused`);
    await writeFile(file, 'new');
    expect(await client.get(pods, ref)).toMatchObject({ kind: 'Pod' });
    expect(seen).toEqual(['Bearer old', 'Bearer old', 'Bearer new']);
    good = 'never';
    const fault = await faultOf(client.get(pods, ref));
    expect(fault.code).toBe('Unauthorized');
    expect(fault.message).not.toContain('Bearer');
  });

  it('given impersonation and a user agent, each group is a header of its own, with and without a proxy', async () => {
    let headers: string[] = [];
    const record = (request: IncomingMessage) => {
      headers = request.rawHeaders;
    };
    const server = await up(
      serveHttp((request, response) => {
        record(request);
        response.end(answer);
      }),
    );
    const impersonate = { user: 'jane', uid: 'u1', groups: ['a,b', 'c'], extra: { 'x.io/scopes': ['r', 'w'] } };
    const valuesOf = (name: string) =>
      headers.flatMap((header, index) => (header.toLowerCase() === name ? [headers[index + 1]] : []));
    const url = `http://127.0.0.1:${server.port}`;
    for (const parts of [{}, { proxy: new Secret(url) }]) {
      headers = [];
      await clientFor(localConfig(url, { impersonate, ...parts }), { userAgent: 'op/1' }).get(pods, ref);
      expect(valuesOf('impersonate-user')).toEqual(['jane']);
      expect(valuesOf('impersonate-uid')).toEqual(['u1']);
      expect(valuesOf('impersonate-group')).toEqual(['a,b', 'c']);
      expect(valuesOf('impersonate-extra-x.io%2fscopes')).toEqual(['r', 'w']);
      expect(valuesOf('user-agent')).toEqual([`op/1 keelson/${manifest.version}`]);
    }
    expect(version).toBe(manifest.version);
  });

  it('given a client certificate that rotates on disk, new requests present the new one and running ones end in peace', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'keelson-transport-'));
    cleanUp.push(() => rm(directory, { recursive: true }));
    const [cert, key] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
    await writeFile(cert, first.cert);
    await writeFile(key, first.key);
    const presented: string[] = [];
    const options = { ...first, requestCert: true, rejectUnauthorized: false };
    const server = await up(
      serveHttps(options, (request, response) => {
        const socket = request.socket as IncomingMessage['socket'] & {
          getPeerX509Certificate(): { toString(): string };
        };
        presented.push(socket.getPeerX509Certificate().toString());
        setTimeout(() => response.end(answer), 150);
      }),
    );
    let now = 0;
    const clock = { now: () => now, monotonic: () => now, random: () => 0, sleep: async () => undefined };
    const clientCertificate = { certificate: { file: cert }, key: { file: key } };
    const authentication = { type: 'none' } as const;
    const client = clientFor(
      localConfig(`https://127.0.0.1:${server.port}`, { ...ca(first.cert), authentication, clientCertificate }),
      { clock },
    );
    const running = client.get(pods, ref);
    await expect.poll(() => presented.length).toBe(1);
    await writeFile(cert, second.cert);
    await writeFile(key, second.key);
    now += 60_000;
    await Promise.all([running, client.get(pods, ref)]);
    expect(presented).toEqual([first.cert, second.cert]);
  });
});

describe('a cluster whose CA rotates', () => {
  it('given a new server certificate and a new CA file, the file is read again at once and the call succeeds', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'keelson-transport-'));
    cleanUp.push(() => rm(directory, { recursive: true }));
    const file = join(directory, 'ca.crt');
    await writeFile(file, first.cert);
    const https = createServer(first, (_, response) => response.end(answer));
    const server = await up(listen(https));
    const client = clientFor(
      localConfig(`https://127.0.0.1:${server.port}`, { tls: { ca: { file }, insecure: false } }),
    );
    await client.get(pods, ref);
    https.setSecureContext(second);
    for (const socket of server.sockets) socket.destroy();
    expect((await faultOf(client.get(pods, ref))).code).toBe('TlsRefused');
    await writeFile(file, second.cert);
    expect(await client.get(pods, ref)).toMatchObject({ kind: 'Pod' });
  });
});

describe('carrying bodies', () => {
  it('given a list, gzip is accepted and understood; a damaged one is a fault', async () => {
    const encodings: unknown[] = [];
    let body = gzipSync(
      JSON.stringify({ kind: 'PodList', metadata: { resourceVersion: '7' }, items: [{ metadata: { name: 'é' } }] }),
    );
    const server = await up(
      serveHttp((request, response) => {
        encodings.push(request.headers['accept-encoding']);
        response.setHeader('content-encoding', 'gzip').end(body);
      }),
    );
    const client = clientFor(localConfig(`http://127.0.0.1:${server.port}`));
    const page = await client.list(pods);
    expect(page).toEqual({ items: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'é' } }], resourceVersion: '7' });
    expect(encodings).toEqual(['gzip']);
    body = body.subarray(0, 20);
    expect((await faultOf(client.list(pods))).code).toBe('UnexpectedAnswer');
  });

  it('given a log whose characters are split between chunks, the text is whole', async () => {
    const text = Buffer.from('날짜: 완료 ✓\n');
    const server = await up(
      serveHttp(async (_, response) => {
        for (const byte of text) {
          response.write(Buffer.of(byte));
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      }),
    );
    let read = '';
    for await (const chunk of clientFor(localConfig(`http://127.0.0.1:${server.port}`)).logs(ref)) read += chunk;
    expect(read).toBe(text.toString());
  });

  it('given a base path in the server URL, it stands before every path', async () => {
    const paths: unknown[] = [];
    const server = await up(
      serveHttp((request, response) => {
        paths.push(request.url);
        response.end(answer);
      }),
    );
    await clientFor(localConfig(`http://127.0.0.1:${server.port}/k8s/clusters/c-1`)).get(pods, ref);
    expect(paths).toEqual(['/k8s/clusters/c-1/api/v1/namespaces/n/pods/p']);
  });

  it('given a name that would climb out of its path, nothing is sent', async () => {
    const client = clientFor(localConfig('http://127.0.0.1:1'));
    expect(await faultOf(client.get(pods, { name: '..', namespace: 'n' }))).toMatchObject({ code: 'BadRequest' });
    expect(await faultOf(client.get(pods, { name: 'p' }))).toMatchObject({
      code: 'BadRequest',
      message: 'cannot get pods "p": Pod is namespaced and no namespace is given',
    });
  });
});

describe('streams', () => {
  const event = (name: string) =>
    `${JSON.stringify({ type: 'ADDED', object: { metadata: { name, resourceVersion: '1' } } })}\n`;
  const collect = async (client: KubeClient, options = {}) => {
    const names: string[] = [];
    try {
      for await (const each of client.watch(pods, options))
        if (each.type === 'ADDED') names.push(each.object.metadata.name);
      return { names, fault: undefined };
    } catch (error) {
      if (!isFault(error)) throw error;
      return { names, fault: error.code };
    }
  };

  it.each<[string, string, 'end' | 'destroy' | 'wait', { names: string[]; fault: string | undefined }]>([
    ['an end', event('a'), 'end', { names: ['a'], fault: undefined }],
    ['a break', event('a'), 'destroy', { names: ['a'], fault: 'StreamBroken' }],
    ['an end within an event', event('a') + event('b').slice(0, 9), 'end', { names: ['a'], fault: 'StreamBroken' }],
    ['rubbish', `${event('a')}<html>\n`, 'wait', { names: ['a'], fault: 'UnexpectedAnswer' }],
    ['an unknown event', '{"type":"NEW","object":{}}\n', 'wait', { names: [], fault: 'UnexpectedAnswer' }],
    ['an event without an object', '{"type":"ADDED"}\n', 'wait', { names: [], fault: 'UnexpectedAnswer' }],
    ['no version', '{"type":"ADDED","object":{"metadata":{}}}\n', 'wait', { names: [], fault: 'UnexpectedAnswer' }],
    [
      'a 410 event',
      '{"type":"ERROR","object":{"kind":"Status","reason":"Expired"}}\n',
      'wait',
      { names: [], fault: 'Expired' },
    ],
    ['another error event', '{"type":"ERROR","object":{"oops":1}}\n', 'wait', { names: [], fault: 'InternalError' }],
  ])('given %s, what came before it is handed out and it is told apart', async (_, text, then, expected) => {
    const server = await up(
      serveHttp((_, response) => {
        response.write(text);
        if (then === 'end') response.end();
        if (then === 'destroy') setTimeout(() => response.destroy(), 20);
      }),
    );
    expect(await collect(clientFor(localConfig(`http://127.0.0.1:${server.port}`)))).toEqual(expected);
  });

  it('given silence, the stream is declared dead after the idle time, not before', async () => {
    const server = await up(
      serveHttp((_, response) => {
        response.write(event('a'));
        setTimeout(() => response.write(event('b')), 200);
      }),
    );
    const startedAt = performance.now();
    const result = await collect(clientFor(localConfig(`http://127.0.0.1:${server.port}`)), { idleTimeoutMs: 300 });
    expect(result).toEqual({ names: ['a', 'b'], fault: 'StreamStalled' });
    expect(performance.now() - startedAt).toBeGreaterThan(480);
  });

  it('given a clock that is set back, silence is noticed all the same', async () => {
    const server = await up(serveHttp((_, response) => void response.write(event('a'))));
    const { now } = Date;
    cleanUp.push(async () => {
      Date.now = now;
    });
    const watching = collect(clientFor(localConfig(`http://127.0.0.1:${server.port}`)), { idleTimeoutMs: 300 });
    await expect.poll(() => server.sockets.size).toBe(1);
    Date.now = () => now() - 3_600_000;
    expect(await watching).toEqual({ names: ['a'], fault: 'StreamStalled' });
  });

  it('given limits longer than a timer can be, they are long, not over at once', async () => {
    const server = await up(
      serveHttp((request, response) => {
        if (request.url?.includes('watch') !== true) setTimeout(() => response.end(answer), 100);
        else {
          response.write(event('a'));
          setTimeout(() => response.end(event('b')), 100);
        }
      }),
    );
    const client = clientFor(localConfig(`http://127.0.0.1:${server.port}`));
    expect(await client.get(pods, ref, { timeoutMs: 2 ** 31 })).toMatchObject({ kind: 'Pod' });
    const names = { names: ['a', 'b'] };
    expect(await collect(client, { idleTimeoutMs: Number.POSITIVE_INFINITY })).toMatchObject(names);
  });

  it('given a reader that does not read, the sender is held back and nothing is lost', async () => {
    const total = 40_000;
    const filler = 'x'.repeat(1_000);
    let written = 0;
    const server = await up(
      serveHttp((_, response) => {
        const pump = () => {
          while (written < total) {
            written += 1;
            const object = { metadata: { name: String(written), resourceVersion: String(written) }, filler };
            if (!response.write(`${JSON.stringify({ type: 'ADDED', object })}\n`)) return response.once('drain', pump);
          }
          return response.end();
        };
        pump();
      }),
    );
    const events = clientFor(localConfig(`http://127.0.0.1:${server.port}`)).watch(pods, { idleTimeoutMs: 1_500 });
    await events.next();
    // Longer than the idle time: a stream that we hold up ourselves is not a dead one.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(written).toBeLessThan(total / 2);
    let read = 1;
    for await (const _ of events) read += 1;
    expect(read).toBe(total);
  });

  it('given many watches, calls do not wait for them, and closing the client ends them all', async () => {
    const server = await up(
      serveHttp((request, response) => {
        if (request.url?.includes('watch=true') === true) response.write(event('a'));
        else response.end(answer);
      }),
    );
    const client = clientFor(localConfig(`http://127.0.0.1:${server.port}`), { flowControl: { initial: 2, min: 1 } });
    const watches = Array.from({ length: 50 }, () => collect(client));
    await Promise.all(Array.from({ length: 20 }, () => client.get(pods, ref)));
    await client.close();
    for (const { fault } of await Promise.all(watches)) expect(fault).toBe('StreamBroken');
    await expect.poll(() => server.sockets.size).toBe(0);
    expect((await faultOf(client.get(pods, ref))).message).toContain('is closed');
  });

  it('given an aborted signal or a reader that leaves, the connection is freed', async () => {
    const server = await up(serveHttp((_, response) => response.write(event('a'))));
    const client = clientFor(localConfig(`http://127.0.0.1:${server.port}`));
    const controller = new AbortController();
    const watch = collect(client, { signal: controller.signal });
    await expect.poll(() => server.sockets.size).toBe(1);
    controller.abort(new Error('enough'));
    await expect(watch).rejects.toThrow('enough');
    await expect.poll(() => server.sockets.size).toBe(0);
    for await (const _ of client.watch(pods)) break;
    await expect.poll(() => server.sockets.size).toBe(0);
  });
});

describe('an answer whose body never comes', () => {
  const stalling = () =>
    up(
      serveHttp((_, response) => {
        response.writeHead(503, { 'content-length': '100', 'content-type': 'application/json' });
        response.write('{"kind":');
      }),
    );

  it('given a watch that is refused, it ends within its time limit and leaves no connection behind', async () => {
    const server = await stalling();
    const client = clientFor(localConfig(`http://127.0.0.1:${server.port}`), { streamTimeoutMs: 300 });
    expect(await faultOf(client.watch(pods).next())).toMatchObject({ code: 'TimedOut' });
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  it('given a watch that is refused, the caller can still end it', async () => {
    const server = await stalling();
    const stop = new AbortController();
    const watching = clientFor(localConfig(`http://127.0.0.1:${server.port}`))
      .watch(pods, { signal: stop.signal })
      .next();
    await expect.poll(() => server.sockets.size).toBe(1);
    stop.abort(new Error('stopped'));
    await expect(watching).rejects.toThrow('stopped');
  });

  it('given a call, it ends within its time limit', async () => {
    const server = await stalling();
    const client = clientFor(localConfig(`http://127.0.0.1:${server.port}`), { timeoutMs: 300 });
    expect(await faultOf(client.get(pods, ref))).toMatchObject({ code: 'TimedOut' });
  });
});

describe('a guard', () => {
  it('given a server that turns us away, it is asked before each attempt, and its no ends the call', async () => {
    let seen = 0;
    const server = await up(
      serveHttp((_, response) => {
        seen += 1;
        response.writeHead(429, { 'retry-after': '0' }).end('{}');
      }),
    );
    let asked = 0;
    const guard = () => {
      asked += 1;
      if (asked === 3) throw new Error('the lease is lost');
    };
    const client = clientFor(localConfig(`http://127.0.0.1:${server.port}`));
    await expect(client.apply(pods, pod, { fieldManager: 'me', guard })).rejects.toThrow('the lease is lost');
    expect({ asked, seen }).toEqual({ asked: 3, seen: 2 });
  });

  it('given a connection that takes its time, it is asked only when the connection is there', async () => {
    const seen: string[] = [];
    const tls = createServer(first, (request, response) => {
      seen.push(request.method ?? '');
      response.end(answer);
    });
    const gate = Promise.withResolvers<void>();
    const server = await up(serveTcp((socket) => void gate.promise.then(() => tls.emit('connection', socket))));
    const client = clientFor(localConfig(`https://127.0.0.1:${server.port}`, ca(first.cert)));
    let mayWrite = true;
    const guard = () => {
      if (!mayWrite) throw new Error('the lease is lost');
    };
    const writing = client.create(pods, pod, { guard });
    writing.catch(() => undefined);
    await expect.poll(() => server.sockets.size).toBe(1);
    mayWrite = false;
    gate.resolve();
    await expect(writing).rejects.toThrow('the lease is lost');
    mayWrite = true;
    await client.create(pods, pod, { guard });
    expect(seen).toEqual(['POST']);
  });
});
