/** Node and gateway as they are configured, both real collectors: who is let in, and that nothing is lost when certificates or credentials change. */
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { createObjectSet } from '@keelson/runtime';
import { Secret } from '@keelson/schema';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Store } from '../store.ts';
import { type BulkStore, startBulkStore } from './testing/bulk-store.ts';
import { mountSecret } from './testing/collectors.ts';
import { type NodeAndGateway, startNodeAndGateway } from './testing/node-and-gateway.ts';
import { guard, storeWith } from './testing/sources.ts';
import { findTrust, type Trust } from './trust.ts';
import { trustSecrets } from './trust-secrets.ts';

const day = 86_400_000;

/** The trust at a time, given what is stored. */
function trustAt(now: number, before?: Trust, kept: (name: string) => boolean = () => true): Promise<Trust> {
  const stored = before === undefined ? [] : trustSecrets(before).filter(({ metadata }) => kept(metadata.name));
  const owned = createObjectSet(
    stored.map((object) => ({ kind: Secret, object: { ...object, metadata: { ...object.metadata, namespace: 'n' } } })),
    'n',
  );
  return findTrust({ owned, now: new Date(now) }, 'n');
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

interface Bench extends AsyncDisposable {
  readonly store: BulkStore;
  readonly collectors: NodeAndGateway;
  /** Changes the credentials of the store, as the kubelet of the gateway would. */
  login(data: Readonly<Record<string, string>>): Promise<void>;
  /** Writes events until the returned function is called, which tells how many. */
  load(): () => Promise<number>;
  /** The numbers of the events that the store has, each once. */
  arrived(): ReadonlySet<unknown>;
}

interface Credentials {
  readonly auth: NonNullable<Store['auth']>;
  readonly header: string;
  readonly data: Readonly<Record<string, string>>;
}

const nobody: Partial<Credentials> = {};

/** Both collectors, with files as short-lived as a test needs. */
async function startBench(trust: Trust, { auth, header, data }: Partial<Credentials> = nobody): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-login-'));
  const login = (next: Readonly<Record<string, string>>) => mountSecret(folder, next);
  if (data !== undefined) await login(data);
  const store = await startBulkStore(header);
  const collectors = await startNodeAndGateway({
    sources: [guard],
    store: storeWith({ url: store.url, ...(auth === undefined ? {} : { auth }) }),
    trust,
    overrides: {
      gateway: {
        extensions: loginFiles(auth, folder),
        receivers: {
          otlp: {
            protocols: { grpc: { tls: reread, keepalive: { server_parameters: { max_connection_age: '1s' } } } },
          },
        },
        exporters: { 'elasticsearch/events': { retry: { max_interval: '1s' } } },
      },
      node: {
        exporters: { otlp: { tls: reread, sending_queue: { batch: { min_size: 10_000, flush_timeout: '200ms' } } } },
      },
    },
  });
  let written = 0;
  return {
    store,
    collectors,
    login,
    load() {
      const stop = new AbortController();
      const writing = (async () => {
        while (!stop.signal.aborted) {
          const time = new Date().toISOString();
          const lines = Array.from({ length: 10 }, (_, i) => JSON.stringify({ n: written + i, time }));
          await collectors.write(guard, ...lines);
          written += 10;
          await seconds(0.02);
        }
      })();
      return async () => {
        stop.abort();
        await writing;
        return written;
      };
    },
    arrived: () => new Set(store.documents.map((document) => (document.guard as { n?: unknown } | undefined)?.n)),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([collectors.stop(), store[Symbol.asyncDispose]()]);
      await rm(folder, { recursive: true });
    },
  };
}

const reread = { reload_interval: '500ms' };

/** The files of a login in another folder than in the pod. */
function loginFiles(auth: Store['auth'], folder: string): object {
  const file = (name: string) => join(folder, name);
  if (auth?.secretRef !== undefined)
    return { basicauth: { client_auth: { username_file: file('username'), password_file: file('password') } } };
  return auth?.apiKeySecretRef === undefined ? {} : { bearertokenauth: { filename: file('api-key') } };
}

const seconds = (count: number) => new Promise((resolve) => setTimeout(resolve, count * 1000));

let bench: Bench | undefined;
afterEach(async () => {
  await bench?.[Symbol.asyncDispose]();
  bench = undefined;
});

/** All that was written is there, and none of it twice. */
async function untilComplete({ arrived, store }: Bench, count: number): Promise<void> {
  await vi.waitFor(() => expect(arrived().size).toBe(count), { timeout: 120_000, interval: 250 });
  // Long enough for what may come again to have come.
  await seconds(2);
  const { documents, again } = store;
  console.log(
    `${count} events written, ${arrived().size} stored, ${documents.length - count} of them twice, ${again} refused as known`,
  );
  expect(documents).toHaveLength(count);
}

interface Caller {
  readonly cert?: string;
  readonly key?: string;
}

/** What the gateway says to who calls like that: its certificate if it talks, else why it does not. */
function call(port: number, caller: Caller): Promise<{ readonly certificate: string } | { readonly error: string }> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, ALPNProtocols: ['h2'], rejectUnauthorized: false, ...caller });
    const end = (outcome: Parameters<typeof resolve>[0]) => {
      socket.destroy();
      resolve(outcome);
    };
    // With TLS 1.3 a client learns only from what it reads that it was not accepted.
    socket.on('data', () => end({ certificate: new X509Certificate(socket.getPeerCertificate().raw).toString() }));
    socket.on('error', ({ message }) => end({ error: message }));
    socket.on('close', () => end({ error: 'closed' }));
  });
}

const decode = (data: Readonly<Record<string, string>>, key: string) =>
  Buffer.from(data[key] ?? '', 'base64').toString();
const pairOf = ({ parties }: Trust, party: 'gateway' | 'node'): Required<Caller> => ({
  cert: decode(parties[party].data, 'tls.crt'),
  key: decode(parties[party].data, 'tls.key'),
});

describe('node and gateway', () => {
  test('talk to each other, and to nobody without a certificate of theirs', async () => {
    const [ours, theirs] = await Promise.all([trustAt(Date.now()), trustAt(Date.now())]);
    bench = await startBench(ours);
    const { port } = bench.collectors;
    const stop = bench.load();
    await seconds(2);
    await untilComplete(bench, await stop());

    expect(await call(port, pairOf(ours, 'node'))).toEqual({ certificate: pairOf(ours, 'gateway').cert });
    expect(await call(port, {})).toEqual({ error: expect.stringMatching(/certificate required/) });
    expect(await call(port, pairOf(theirs, 'node'))).toEqual({ error: expect.stringMatching(/alert/) });
    // The certificate of a gateway is for a gateway.
    expect(await call(port, pairOf(ours, 'gateway'))).toEqual({ error: expect.stringMatching(/alert/) });
  });

  test('a node does not talk to a gateway of somebody else, and keeps what it has until its own is back', async () => {
    const [ours, theirs] = await Promise.all([trustAt(Date.now()), trustAt(Date.now())]);
    bench = await startBench({ ...ours, parties: { ...ours.parties, gateway: theirs.parties.gateway } });
    const { node, take } = bench.collectors;
    const stop = bench.load();
    // It has called, and did not like who answered.
    await vi.waitFor(
      async () => expect(await node.part.log(1000)).toMatch(/Exporting failed.*failed to verify certificate/),
      {
        timeout: 60_000,
        interval: 500,
      },
    );
    const written = await stop();
    expect(bench.arrived().size).toBe(0);
    await take(ours);
    await untilComplete(bench, written);
  });

  test('lose nothing while certificates and then the authority change under load', async () => {
    // Certificates count by the clock of this machine: the story begins nine months ago and ends today.
    const now = Date.now();
    const first = await trustAt(now - 60 * day, await trustAt(now - 269 * day));
    bench = await startBench(first);
    const { port, node, take } = bench.collectors;
    const stop = bench.load();
    const served = async (trust: Trust) =>
      vi.waitFor(
        async () =>
          expect(await call(port, pairOf(trust, 'node'))).toEqual({ certificate: pairOf(trust, 'gateway').cert }),
        { timeout: 60_000, interval: 200 },
      );
    await served(first);

    // A certificate of the same authority: nobody is told, nobody is restarted.
    const renewed = await trustAt(now - 60 * day, first, (name) => name.includes('authority'));
    await take(renewed);
    await served(renewed);
    await seconds(2);

    // A new authority: all are told, the nodes are rolled, and only then it is used.
    const told = await trustAt(now - day, renewed);
    expect(told.signer).not.toBe(first.signer);
    expect(pairOf(told, 'gateway')).toEqual(pairOf(renewed, 'gateway'));
    await take(told);
    await seconds(2);
    await node.part.kill();
    await node.part.start();
    const used = await trustAt(now, told);
    expect(pairOf(used, 'gateway')).not.toEqual(pairOf(told, 'gateway'));
    await take(used);
    await served(used);
    await seconds(2);
    await untilComplete(bench, await stop());
  });
});

describe('changed credentials', () => {
  const cases: readonly [string, Credentials, Pick<Credentials, 'header' | 'data'>][] = [
    [
      'user and password',
      {
        auth: { secretRef: { name: 'login' } },
        header: `Basic ${base64('agent:one')}`,
        data: { username: base64('agent'), password: base64('one') },
      },
      { header: `Basic ${base64('agent:two')}`, data: { username: base64('agent'), password: base64('two') } },
    ],
    [
      'an API key',
      {
        auth: { apiKeySecretRef: { name: 'login', key: 'api-key' } },
        header: 'ApiKey b25l',
        // As `echo` and editors leave it.
        data: { 'api-key': base64('b25l\n') },
      },
      { header: 'ApiKey dHdv', data: { 'api-key': base64('dHdv') } },
    ],
  ];

  test.each(cases)('%s: taken over by the gateway that runs, and what waited is stored', async (_what, first, next) => {
    bench = await startBench(await trustAt(Date.now()), first);
    const { store, login } = bench;
    const stop = bench.load();
    await vi.waitFor(() => expect(store.documents.length).toBeGreaterThan(0), { timeout: 60_000 });
    store.authorization = next.header;
    await vi.waitFor(() => expect(store.refused).toBeGreaterThan(0), { timeout: 60_000 });
    await seconds(2);
    await login(next.data);
    await seconds(2);
    await untilComplete(bench, await stop());
  });
});
