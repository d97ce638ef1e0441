import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@keelson/kube';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileCertificates } from './file-certificates.ts';
import { issueAuthority, issueCertificate } from './issue.ts';

const authority = await issueAuthority({ now: Date.now(), lifetimeMs: 60_000 });
const issue = (now = Date.now()) => issueCertificate(authority, { now, lifetimeMs: 60_000, names: ['localhost'] });

let dir: string;
let stop: () => Promise<void> = async () => {};
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-files-'));
});
afterEach(async () => {
  await stop();
  await rm(dir, { recursive: true });
});

function run(options: { ca?: boolean } = {}) {
  const files = {
    cert: join(dir, 'tls.crt'),
    key: join(dir, 'tls.key'),
    ...(options.ca === true ? { ca: join(dir, 'ca.crt') } : {}),
  };
  let changes = 0;
  const source = new FileCertificates({
    files,
    clock: systemClock,
    everyMs: 10,
    onChange: () => {
      changes += 1;
    },
  });
  const ended = new AbortController();
  const running = source.run(ended.signal);
  stop = async () => {
    ended.abort();
    await running;
  };
  return { source, changes: () => changes };
}

const write = async (pair: Awaited<ReturnType<typeof issue>>) => {
  await writeFile(join(dir, 'tls.crt'), pair.certificate.pem);
  await writeFile(join(dir, 'tls.key'), pair.keyPem);
};

describe('certificates in files', () => {
  it('are taken when they appear, and again when they change, and not otherwise', async () => {
    const { source, changes } = run();
    await expect.poll(() => source.trouble).toMatch(/ENOENT.*tls\.crt.*is the Secret with the certificate mounted\?/);
    expect(source.serving).toBeUndefined();
    const first = await issue();
    await write(first);
    await expect.poll(() => source.serving?.cert).toBe(first.certificate.pem);
    await systemClock.sleep(50);
    expect(changes()).toBe(1);
    const second = await issue();
    await write(second);
    await expect.poll(() => source.serving?.cert).toBe(second.certificate.pem);
    expect(source.trouble).toBeUndefined();
  });

  it('stay as they were while a renewal is half done', async () => {
    const { source } = run();
    const [first, second] = [await issue(), await issue()];
    await write(first);
    await expect.poll(() => source.serving).toBeDefined();
    await writeFile(join(dir, 'tls.crt'), second.certificate.pem);
    await expect.poll(() => source.trouble).toMatch(/do not hold a certificate and its key/);
    expect(source.serving?.cert).toBe(first.certificate.pem);
    await writeFile(join(dir, 'tls.key'), second.keyPem);
    await expect.poll(() => source.serving?.cert).toBe(second.certificate.pem);
  });

  it('that have expired are not taken', async () => {
    const { source } = run();
    await write(await issue(Date.now() - 120_000));
    await expect.poll(() => source.trouble).toMatch(/expired at .*: has its issuer stopped renewing it\?/);
    expect(source.serving).toBeUndefined();
  });

  it('leave the bundle to others, or bring it along', async () => {
    const without = run();
    expect(without.source.bundle).toBe('elsewhere');
    await stop();
    const { source } = run({ ca: true });
    await write(await issue());
    await writeFile(join(dir, 'ca.crt'), 'garbage');
    await expect.poll(() => source.trouble).toMatch(/ca\.crt holds no certificate/);
    expect(source.bundle).toBeUndefined();
    await writeFile(join(dir, 'ca.crt'), authority.certificate.pem);
    await expect.poll(() => source.bundle).toBe(authority.certificate.pem);
  });
});
