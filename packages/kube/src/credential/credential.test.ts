import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeConfig } from '../config/config.ts';
import { Secret } from '../config/secret.ts';
import { expired, first, second } from '../testing/pem.ts';
import { createStepClock } from '../testing/step-clock.ts';
import { createCredential } from './credential.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-credential-'));
});

afterEach(() => rm(directory, { recursive: true }));

function config(parts: Partial<KubeConfig>): KubeConfig {
  return {
    server: 'https://x',
    namespace: 'default',
    source: 'context "dev" of /k',
    user: 'dev',
    tls: { insecure: false },
    authentication: { type: 'none' },
    disableCompression: false,
    ...parts,
  };
}

describe('a token in a file', () => {
  it('given a replaced file, the new token is used after the next look at it, and the identity stays the same until then', async () => {
    const file = join(directory, 'token');
    await writeFile(file, 'one\n');
    const clock = createStepClock();
    const credential = createCredential(config({ authentication: { type: 'token-file', file } }), clock);
    const before = await credential.current();
    expect(before.authorization?.reveal()).toBe('Bearer one');
    await writeFile(file, 'two\n');
    expect(await credential.current()).toBe(before);
    clock.advance(10_000);
    expect((await credential.current()).authorization?.reveal()).toBe('Bearer two');
  });

  it('given a 401, the file is read at once; there is something to try only if it changed', async () => {
    const file = join(directory, 'token');
    await writeFile(file, 'one');
    const credential = createCredential(config({ authentication: { type: 'token-file', file } }), createStepClock());
    const before = await credential.current();
    expect(await credential.renew(before)).toBe(false);
    await writeFile(file, 'two');
    expect(await credential.renew(before)).toBe(true);
    expect(credential.explain()).toContain(file);
  });

  it('given a file that vanished, the last token stays in use', async () => {
    const file = join(directory, 'token');
    await writeFile(file, 'one');
    const clock = createStepClock();
    const credential = createCredential(config({ authentication: { type: 'token-file', file } }), clock);
    const before = await credential.current();
    await rm(file);
    clock.advance(60_000);
    expect(await credential.current()).toBe(before);
  });
});

describe('a client certificate in files', () => {
  it('given a rotation in two steps, the old pair stays in use until the new one is whole', async () => {
    const [cert, key] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
    await writeFile(cert, first.cert);
    await writeFile(key, first.key);
    const clock = createStepClock();
    const clientCertificate = { certificate: { file: cert }, key: { file: key } };
    const credential = createCredential(config({ clientCertificate }), clock);
    const before = await credential.current();
    await writeFile(cert, second.cert);
    clock.advance(10_000);
    expect(await credential.current()).toBe(before);
    await writeFile(key, second.key);
    clock.advance(10_000);
    expect((await credential.current()).certificate?.cert).toBe(second.cert);
  });

  it('given an expired certificate, the explanation of a 401 says so', async () => {
    const material = (text: string) => ({ data: new Secret(text) });
    const clientCertificate = { certificate: material(expired.cert), key: material(expired.key) };
    const credential = createCredential(config({ clientCertificate }), createStepClock());
    await credential.current();
    expect(credential.explain()).toBe(
      'the client certificate of user "dev" (context "dev" of /k) expired on 2020-01-02T00:00:00.000Z: renew it',
    );
  });
});

it.each<[KubeConfig['authentication'], string]>([
  [{ type: 'token', token: new Secret('s3cret') }, 'the token of user "dev" (context "dev" of /k) was refused'],
  [{ type: 'basic', username: 'u', password: new Secret('s3cret') }, 'no basic authentication since v1.19'],
  [{ type: 'none' }, 'no credential is configured (context "dev" of /k)'],
])('given a refused credential, the explanation names it and not the secret', (authentication, expected) => {
  const text = createCredential(config({ authentication }), createStepClock()).explain();
  expect(text).toContain(expected);
  expect(text).not.toContain('s3cret');
});
