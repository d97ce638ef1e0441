import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { rootCertificates } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { toBundle } from './certificate.ts';
import { issueAuthority, issueCertificate } from './issue.ts';
import { readMaterial, rotate, secretKeys, toSecretData } from './material.ts';
import type { Material, RotationPolicy } from './rotation.ts';
import { planRotation, renewAt, usableIssuer } from './rotation.ts';

const day = 86_400_000;
const start = Date.parse('2026-01-01T00:00:00Z');
const policy: RotationPolicy = {
  authorityLifetimeMs: 365 * day,
  servingLifetimeMs: 30 * day,
  propagationMs: 30_000,
  names: ['localhost', '127.0.0.1'],
};
const nothing: Material = { authorities: [] };

/** A world in which callers learn of a bundle at once, or not at all. */
async function settle(material: Material, now: number, options: { policy?: RotationPolicy; trusted?: boolean } = {}) {
  const rules = options.policy ?? policy;
  const trustedSince = () => (options.trusted === false ? undefined : now - rules.propagationMs);
  const plan = planRotation({ material, now, policy: rules, trustedSince });
  return { plan, material: plan.due ? await rotate(material, plan, rules, now) : material };
}

describe('planRotation', () => {
  it('makes an authority and a server certificate out of nothing, and is then at rest', async () => {
    const first = await settle(nothing, start, { trusted: false });
    expect(first.plan).toMatchObject({
      authority: 'there is no valid authority with its key',
      serving: 'there is no server certificate with its key',
    });
    const second = await settle(first.material, start);
    expect(second.plan).toMatchObject({ due: false, notes: [] });
    expect(second.plan.nextAt).toBeLessThanOrEqual(start + 30 * day * 0.73);
  });

  it('renews the server certificate at about two thirds of its life, with the same authority', async () => {
    const { material } = await settle(nothing, start);
    const at = renewAt(material.serving?.certificate ?? expect.fail('no server certificate'), 30 * day);
    expect((at - start) / (30 * day)).toBeGreaterThanOrEqual(0.6);
    expect((at - start) / (30 * day)).toBeLessThanOrEqual(0.73);
    expect((await settle(material, at - 1)).plan.due).toBe(false);
    const renewed = await settle(material, at + 1);
    expect(renewed.plan.serving).toBe('the server certificate is past two thirds of its life');
    expect(renewed.plan.authority).toBeUndefined();
    expect(usableIssuer(renewed.material.serving, material.authorities, at + 1)).toBeDefined();
  });

  it('tells callers of a new authority before anything is signed by it', async () => {
    const { material } = await settle(nothing, start);
    const old = material.signer?.certificate ?? expect.fail('no authority');
    const now = renewAt(old, 365 * day) + 1;
    const current = (await settle(material, now - 10 * day)).material;

    const added = await settle(current, now, { trusted: false });
    expect(added.plan.authority).toMatch(/past two thirds of its life/);
    expect(added.material.authorities.map(({ fingerprint }) => fingerprint)).toContain(old.fingerprint);
    expect(added.material.authorities).toHaveLength(2);
    expect(added.material.serving).toEqual(current.serving);

    const waiting = await settle(added.material, now, { trusted: false });
    expect(waiting.plan.due).toBe(false);
    const told = planRotation({ material: added.material, now, policy, trustedSince: () => now - 1 });
    expect(told).toMatchObject({ due: false, nextAt: now - 1 + policy.propagationMs });
    const used = await settle(added.material, now);
    expect(used.plan.serving).toBe('there is a newer authority');
    expect(usableIssuer(used.material.serving, used.material.authorities, now)?.fingerprint).toBe(
      added.material.signer?.certificate.fingerprint,
    );
  });

  it('drops the old authority when the last certificate that it signed has expired, not before', async () => {
    const { material } = await settle(nothing, start);
    const now = renewAt(material.signer?.certificate ?? expect.fail('no authority'), 365 * day) + 1;
    const served = (await settle(material, now - 1000)).material;
    const added = await settle(served, now);
    const used = await settle(added.material, now);
    const lastOfOld = served.serving?.certificate.notAfter ?? 0;
    expect((await settle(used.material, lastOfOld)).material.authorities).toHaveLength(2);
    const later = await settle(used.material, now + policy.servingLifetimeMs + policy.propagationMs);
    expect(later.material.authorities.map(({ fingerprint }) => fingerprint)).toEqual([
      added.material.signer?.certificate.fingerprint,
    ]);
  });

  it('issues for the names that callers use now', async () => {
    const { material } = await settle(nothing, start);
    const names = [...policy.names, 'webhooks.keelson.svc'];
    const moved = await settle(material, start, { policy: { ...policy, names }, trusted: false });
    expect(moved.plan.serving).toBe('the server certificate is not for webhooks.keelson.svc');
    expect(moved.material.serving?.certificate.x509.subjectAltName).toContain('webhooks.keelson.svc');
  });

  it('follows a policy that became stricter, also for certificates that were made for longer', async () => {
    const { material } = await settle(nothing, start);
    const strict = { ...policy, authorityLifetimeMs: 40 * day, servingLifetimeMs: 10 * day };
    expect((await settle(material, start + 8 * day)).plan.due).toBe(false);
    expect((await settle(material, start + 8 * day, { policy: strict })).plan.serving).toMatch(/past two thirds/);
    expect((await settle(material, start + 30 * day - 1, { policy: strict })).plan.authority).toMatch(
      /past two thirds/,
    );
  });

  it('keeps the authority behind what is being served when the Secret was deleted', async () => {
    const { material } = await settle(nothing, start);
    const inUse = material.signer?.certificate ?? expect.fail('no authority');
    const now = start + day;
    const plan = planRotation({ material: nothing, now, policy, trustedSince: () => undefined, inUse });
    const repaired = await rotate(nothing, plan, policy, now);
    expect(repaired.authorities.map(({ fingerprint }) => fingerprint)).toEqual([
      inUse.fingerprint,
      repaired.signer?.certificate.fingerprint,
    ]);
    expect(planRotation({ material: repaired, now, policy, trustedSince: () => undefined, inUse }).due).toBe(false);
  });

  it('never has a moment without a certificate that callers trust, over three years of rotations', async () => {
    let { material } = await settle(nothing, start);
    let told = { authorities: material.authorities, at: start };
    let news: { authorities: Material['authorities']; at: number } | undefined;
    let authorities = 0;
    for (let now = start; now < start + 3 * 365 * day; ) {
      const trustedSince = (fingerprint: string) =>
        told.authorities.some((authority) => authority.fingerprint === fingerprint) ? told.at : undefined;
      const plan = planRotation({ material, now, policy, trustedSince });
      if (plan.authority !== undefined) authorities += 1;
      if (plan.due) {
        material = await rotate(material, plan, policy, now);
        // Callers hear of a bundle only a while after it was written.
        news = { authorities: material.authorities, at: now + 5_000 };
      }
      expect(usableIssuer(material.serving, told.authorities, now), new Date(now).toISOString()).toBeDefined();
      expect(told.authorities.length).toBeLessThanOrEqual(2);
      if (plan.due) continue;
      now = Math.min(plan.nextAt, news?.at ?? Number.POSITIVE_INFINITY);
      if (news !== undefined && now >= news.at) {
        told = news;
        news = undefined;
      }
    }
    expect(authorities).toBeGreaterThanOrEqual(4);
  });
});

describe('a Secret', () => {
  const damage = (material: Material, change: Record<string, string>) => {
    const encoded = Object.entries(change).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    return readMaterial({ ...toSecretData(material), ...Object.fromEntries(encoded) });
  };

  it('gives back what was written to it', async () => {
    const { material } = await settle(nothing, start);
    const read = readMaterial(toSecretData(material));
    expect(toSecretData(read)).toEqual(toSecretData(material));
    expect((await settle(read, start)).plan.due).toBe(false);
  });

  it.each([
    ['is empty', () => undefined],
    ['holds no base64', () => ({ 'tls.crt': '%%%', 'ca.crt': '\u0000' })],
  ])('that %s holds nothing', (_, data) => {
    expect(readMaterial(data())).toEqual({ authorities: [] });
  });

  it.each([
    [secretKeys.certificate, { serving: true, authority: false, authorities: 1 }],
    [secretKeys.key, { serving: true, authority: false, authorities: 1 }],
    [secretKeys.authorityKey, { serving: false, authority: true, authorities: 2 }],
    [secretKeys.bundle, { serving: true, authority: true, authorities: 1 }],
  ])('with garbage in %s is repaired, and only what is needed is replaced', async (key, expected) => {
    const { material } = await settle(nothing, start);
    const repaired = await settle(damage(material, { [key]: '-----BEGIN garbage' }), start, { trusted: false });
    expect({
      serving: repaired.plan.serving !== undefined,
      authority: repaired.plan.authority !== undefined,
      authorities: repaired.material.authorities.length,
    }).toEqual(expected);
    expect(usableIssuer(repaired.material.serving, repaired.material.authorities, start)).toBeDefined();
  });

  it('that has expired is replaced as a whole', async () => {
    const { material } = await settle(nothing, start);
    const much = start + 400 * day;
    const repaired = await settle(readMaterial(toSecretData(material)), much, { trusted: false });
    expect(repaired.material.authorities).toHaveLength(1);
    expect(repaired.material.authorities[0]?.fingerprint).not.toBe(material.authorities[0]?.fingerprint);
    expect(usableIssuer(repaired.material.serving, repaired.material.authorities, much)).toBeDefined();
  });

  it('with the authority of somebody else does not make us trust it', async () => {
    const { material } = await settle(nothing, start);
    // Any authority of a system will do: it is a valid CA certificate that we did not make.
    const foreign = rootCertificates[0] ?? expect.fail('Node has no root certificates');
    const read = damage(material, { [secretKeys.bundle]: toBundle(material.authorities) + foreign });
    expect(read.authorities.map(({ fingerprint }) => fingerprint)).toEqual(
      material.authorities.map(({ fingerprint }) => fingerprint),
    );
  });
});

describe('an issued certificate', () => {
  const servers: { close(): void }[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('is accepted by a TLS client that trusts the authority, by name and by address, and by no other', async () => {
    const authority = await issueAuthority({ now: Date.now(), lifetimeMs: 60_000 });
    const other = await issueAuthority({ now: Date.now(), lifetimeMs: 60_000 });
    const serving = await issueCertificate(authority, {
      now: Date.now(),
      lifetimeMs: 60_000,
      names: ['localhost', '127.0.0.1'],
    });
    const server = createServer({ cert: serving.certificate.pem, key: serving.keyPem }, (_, response) =>
      response.end('ok'),
    );
    servers.push(server);
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
    );
    const get = (host: string, ca: string) =>
      new Promise<number | string | undefined>((resolve) => {
        const call = request({ host, port, ca, agent: false }, (response) => resolve(response.resume().statusCode));
        call.on('error', (error: NodeJS.ErrnoException) => resolve(error.code)).end();
      });
    expect(await get('127.0.0.1', authority.certificate.pem)).toBe(200);
    expect(await get('localhost', authority.certificate.pem)).toBe(200);
    expect(await get('127.0.0.1', toBundle([other.certificate, authority.certificate]))).toBe(200);
    expect(await get('127.0.0.1', other.certificate.pem)).toMatch(/UNABLE_TO_VERIFY|SELF_SIGNED/);
    expect(await get('127.0.0.2', authority.certificate.pem)).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID|ECONNREFUSED/);
  });
});
