/** A plain client for this package's own tests: it reads a kubeconfig as any client would, and hides nothing. */
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Agent, request } from 'undici';
import { parse } from 'yaml';

interface Kubeconfig {
  clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  users: [{ user: { token?: string; 'client-certificate-data'?: string; 'client-key-data'?: string } }];
}

export interface Answer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: { readonly [key: string]: unknown };
}

export interface Event {
  readonly type: string;
  readonly object: {
    readonly metadata?: { readonly name?: string };
    readonly code?: number;
    readonly [key: string]: unknown;
  };
}

export async function connect(kubeconfigPath: string) {
  const config = parse(await readFile(kubeconfigPath, 'utf8')) as Kubeconfig;
  const { server, 'certificate-authority-data': ca } = config.clusters[0].cluster;
  const { token, 'client-certificate-data': cert, 'client-key-data': key } = config.users[0].user;
  const decode = (text: string) => Buffer.from(text, 'base64').toString();
  const agent = new Agent({
    connect: { ca: decode(ca), ...(cert && key && { cert: decode(cert), key: decode(key) }) },
  });
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };

  return {
    /** Sends one request and gives the answer, whatever its code. */
    async send(
      method: 'GET' | 'POST' | 'PUT' | 'DELETE',
      path: string,
      body?: object,
      extraHeaders: Record<string, string> = {},
    ): Promise<Answer> {
      const response = await request(new URL(path, server), {
        method,
        headers: { ...headers, ...extraHeaders },
        dispatcher: agent,
        ...(body && { body: JSON.stringify(body) }),
      });
      const answer = (await response.body.json()) as Answer['body'];
      return { code: response.statusCode, headers: response.headers, body: answer };
    },
    /** Opens a watch; the iterator ends with the stream and throws when the stream breaks. */
    async watch(path: string): Promise<AsyncGenerator<Event>> {
      const response = await request(new URL(path, server), { headers, dispatcher: agent });
      return lines(response.body);
    },
    close: () => agent.destroy(),
  };
}

async function* lines(body: NodeJS.ReadableStream): AsyncGenerator<Event> {
  const broken = Promise.withResolvers<never>();
  body.once('error', broken.reject);
  broken.promise.catch(() => {});
  const reader = createInterface({ input: body })[Symbol.asyncIterator]();
  for (;;) {
    const line = await Promise.race([reader.next(), broken.promise]);
    if (line.done) break;
    yield JSON.parse(line.value) as Event;
  }
}
