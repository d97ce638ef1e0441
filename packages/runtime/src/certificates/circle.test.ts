import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer as createTlsServer } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { readCertificates, readKeyPair } from './certificate.ts';
import { type Circle, type CircleInput, type Party, renewCircle } from './circle.ts';

const day = 86_400_000;
const start = new Date('2026-01-01T00:00:00Z');
const later = (days: number) => new Date(start.getTime() + days * day);
const policy = { authorityLifetimeMs: 365 * day, servingLifetimeMs: 90 * day, propagationMs: 600_000 };
type Name = 'server' | 'client';
const parties: Record<Name, Party> = {
  server: { name: 'the server', usage: 'server', names: ['localhost', 'server.ns.svc'] },
  client: { name: 'the client', usage: 'client', names: ['client'] },
};

type More = Partial<Omit<CircleInput<Name>, 'now'>>;
const renew = (now: Date, circle?: Circle<Name>, more: More = {}) =>
  renewCircle<Name>({
    name: 'test',
    parties,
    policy,
    authority: circle?.authority,
    stored: circle?.parties ?? {},
    ...more,
    now,
  });
const text = (data: Readonly<Record<string, string>>, key: string) =>
  Buffer.from(data[key] ?? '', 'base64').toString('utf8');
const bundleOf = (circle: Circle<Name>) =>
  readCertificates(text(circle.authority, 'ca.crt')).map(({ fingerprint }) => fingerprint);
const certificateOf = ({ parties }: Circle<Name>, name: Name) =>
  readKeyPair(text(parties[name].data, 'tls.crt'), text(parties[name].data, 'tls.key'))?.certificate ??
  expect.fail('no certificate with its key');

/** Whether two parties understand each other: the server as one circle has it, the client as another. */
async function talk(server: Circle<Name>, client: Circle<Name>): Promise<boolean> {
  const options = ({ parties }: Circle<Name>, name: Name) => ({
    cert: text(parties[name].data, 'tls.crt'),
    key: text(parties[name].data, 'tls.key'),
    ca: text(parties[name].data, 'ca.crt'),
  });
  const listening = createTlsServer({ ...options(server, 'server'), requestCert: true, rejectUnauthorized: true });
  listening.on('secureConnection', (socket) => socket.end('welcome')).on('tlsClientError', () => undefined);
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  const socket = connect({ ...options(client, 'client'), host: '127.0.0.1', port, servername: 'localhost' });
  // With TLS 1.3 a client learns only from what it reads that it was not accepted.
  const heard = await new Promise<boolean>((resolve) => {
    socket
      .on('data', () => resolve(true))
      .on('error', () => resolve(false))
      .on('close', () => resolve(false));
  });
  socket.destroy();
  listening.close();
  return heard;
}

describe('a circle of trust', () => {
  it('is made once, and found again as it is', async () => {
    const made = await renew(start);
    expect(Object.keys(made.authority)).toEqual(['ca.crt', 'ca.key']);
    expect(Object.keys(made.parties.server.data)).toEqual(['tls.crt', 'tls.key', 'ca.crt']);
    expect(await renew(later(1), made)).toEqual(made);
  });

  it('gives each party what it is for, and to none the key of the authority', async () => {
    const made = await renew(start);
    const [server, client] = [certificateOf(made, 'server'), certificateOf(made, 'client')];
    expect(server.x509.checkHost('server.ns.svc')).toBeDefined();
    expect(server.x509.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(client.x509.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    for (const name of ['server', 'client'] as const)
      expect(Object.values(made.parties[name].data)).not.toContain(made.authority['ca.key']);
  });

  it('lets its parties talk, and no stranger', async () => {
    const at = new Date();
    const [ours, theirs] = [await renew(at), await renew(at)];
    expect(await talk(ours, ours)).toBe(true);
    expect(await talk(ours, theirs)).toBe(false);
    const disguised = { ...theirs, parties: { ...theirs.parties, client: withBundle(theirs, ours, 'client') } };
    expect(await talk(ours, disguised)).toBe(false);
  });

  it('renews certificates at two thirds of their life, with the same authority and without a word to anybody', async () => {
    const made = await renew(start);
    const renewed = await renew(later(70), made);
    expect(renewed.signer).toBe(made.signer);
    expect(renewed.parties.server.data['ca.crt']).toBe(made.parties.server.data['ca.crt']);
    expect(renewed.parties.server.since).toEqual(start);
    for (const name of ['server', 'client'] as const) {
      expect(certificateOf(renewed, name).fingerprint).not.toBe(certificateOf(made, name).fingerprint);
      expect(certificateOf(renewed, name).notAfter).toBe(later(160).getTime());
    }
  });

  it('tells all of a new authority first, uses it when all have taken it over, and lets the old one go when nothing of it is left', async () => {
    const fresh = await renew(later(200), await renew(start));
    const told = await renew(later(270), fresh);
    expect(bundleOf(told)).toEqual([fresh.signer, told.signer]);
    expect(told.parties.server.since).toEqual(later(270));
    expect(certificateOf(told, 'server').fingerprint).toBe(certificateOf(fresh, 'server').fingerprint);
    expect(await renew(new Date(later(270).getTime() + 599_000), told)).toEqual(told);
    expect(await renew(later(271), told, { isTold: () => false })).toEqual(told);

    const used = await renew(later(271), told, { isTold: (fingerprint) => fingerprint === told.signer });
    expect(certificateOf(used, 'server').fingerprint).not.toBe(certificateOf(told, 'server').fingerprint);
    expect(bundleOf(used)).toEqual([fresh.signer, told.signer]);
    expect(bundleOf(await renew(later(361), used))).toEqual([told.signer]);
  });

  it('goes on over every rotation: who is a step behind still understands those who are ahead', async () => {
    // Certificates are judged by the clock of this machine: the story must end today.
    const now = Date.now();
    const ago = (days: number) => new Date(now - days * day);
    const short = { ...policy, propagationMs: 0 };
    let circle = await renew(ago(269), undefined, { policy: short });
    circle = await renew(ago(60), circle, { policy: short });
    const states = [circle];
    for (const days of [1, 0.5, 0.1, 0]) {
      circle = await renew(ago(days), circle, { policy: short });
      states.push(circle);
    }
    expect(new Set(states.map((state) => certificateOf(state, 'server').fingerprint)).size).toBeGreaterThan(1);
    for (const [i, state] of states.entries()) {
      const next = states[i + 1] ?? state;
      expect(await talk(state, next)).toBe(true);
      expect(await talk(next, state)).toBe(true);
    }
  });

  it('outlives the loss of its authority: the parties keep what they have, and both authorities are trusted', async () => {
    const made = await renew(start);
    const mended = await renew(later(1), { ...made, authority: {} });
    expect(bundleOf(mended)).toEqual([made.signer, mended.signer]);
    expect(mended.signer).not.toBe(made.signer);
    expect(certificateOf(mended, 'server').fingerprint).toBe(certificateOf(made, 'server').fingerprint);
  });

  it('makes a lost party anew, by the same authority', async () => {
    const made = await renew(start);
    const { client } = made.parties;
    const mended = await renew(later(1), made, { stored: { client } });
    expect(mended.signer).toBe(made.signer);
    expect(mended.parties.client).toEqual(client);
    expect(certificateOf(mended, 'server').fingerprint).not.toBe(certificateOf(made, 'server').fingerprint);
  });

  it.each([
    ['a key', 'tls.key'],
    ['a certificate', 'tls.crt'],
  ])('repairs %s that is garbage', async (_what, key) => {
    const made = await renew(start);
    const server = {
      ...made.parties.server,
      data: { ...made.parties.server.data, [key]: Buffer.from('x').toString('base64') },
    };
    const mended = await renew(later(1), made, { stored: { ...made.parties, server } });
    expect(certificateOf(mended, 'server').x509.checkHost('localhost')).toBeDefined();
    expect(mended.parties.client).toEqual(made.parties.client);
  });

  it('does not believe what somebody puts into the bundle of a party', async () => {
    const [ours, theirs] = [await renew(start), await renew(start)];
    const stored = { ...ours.parties, server: withBundle(ours, theirs, 'server') };
    const mended = await renew(later(1), ours, { stored });
    expect(bundleOf(mended)).toEqual([ours.signer]);
    expect(mended.parties.server.data['ca.crt']).toBe(ours.parties.server.data['ca.crt']);
  });

  it('takes a date that is none for now', async () => {
    const made = await renew(start);
    const stored = { ...made.parties, client: { ...made.parties.client, since: new Date('garbage') } };
    expect((await renew(later(1), made, { stored })).parties.client).toEqual({
      ...made.parties.client,
      since: later(1),
    });
  });
});

function withBundle(of: Circle<Name>, from: Circle<Name>, name: Name) {
  const { data, since } = of.parties[name];
  return { data: { ...data, 'ca.crt': from.parties.server.data['ca.crt'] ?? '' }, since };
}
