import { inspect } from 'node:util';
import { Fault, isFault } from '@keelson/kube';
import type { KubeObject } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { createRedactor } from './redact.ts';

const secret = (values: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's' },
  data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, btoa(value)])),
});

describe('the redactor', () => {
  it('blots out every value of a Secret that it has seen, plain, encoded and in a URL', () => {
    const redactor = createRedactor();
    redactor.learn(secret({ password: 'p@ss word', longer: 'p@ss words and more' }));
    expect(redactor.text('a p@ss word b')).toBe('a [redacted] b');
    expect(redactor.text('p@ss words and more')).toBe('[redacted]');
    expect(redactor.text(`sent ${btoa('p@ss word')}`)).toBe('sent [redacted]');
    expect(redactor.text('?q=p%40ss%20word')).toBe('?q=[redacted]');
  });

  it('blots out credentials in URLs that it never saw', () => {
    expect(createRedactor().text('GET https://root:pw@host/x failed')).toBe('GET https://[redacted]@host/x failed');
  });

  it('walks through plain values', () => {
    const redactor = createRedactor();
    redactor.learn(secret({ token: 'abcdef123' }));
    expect(redactor.value({ a: ['abcdef123', 1, null], b: { c: 'x abcdef123' } })).toEqual({
      a: ['[redacted]', 1, null],
      b: { c: 'x [redacted]' },
    });
  });

  it('leaves short words alone, and what is no Secret', () => {
    const redactor = createRedactor();
    redactor.learn(secret({ user: 'root' }));
    redactor.learn({ ...secret({ a: 'configuration' }), kind: 'ConfigMap' });
    expect(redactor.text('root configuration')).toBe('root configuration');
  });

  it('knows what is still to be written, and each line of a key', () => {
    const redactor = createRedactor();
    const key = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n';
    redactor.learn({ ...secret({}), stringData: { password: 'made up just now', key } });
    expect(redactor.text('made up just now')).toBe('[redacted]');
    expect(redactor.text(btoa('made up just now'))).toBe('[redacted]');
    expect(redactor.text('bad line MIIEvQIBADANBgkqhkiG9w0BAQEFAASC')).toBe('bad line [redacted]');
    expect(redactor.text(JSON.stringify({ key: key.trim() }))).toBe('{"key":"[redacted]"}');
  });

  it('leaves our own marks alone, which a hole in them would not hide', () => {
    const redactor = createRedactor();
    redactor.learn(secret({ username: 'keelson', password: 'keelson-2' }));
    expect(redactor.text('give it keelson.io/owner, keelson-2')).toBe('give it keelson.io/owner, [redacted]');
  });

  it('leaves the names of the Secret itself alone', () => {
    const redactor = createRedactor();
    const token = secret({ namespace: 'monitoring', token: 'abcdef123' });
    redactor.learn({ ...token, metadata: { name: 'metrics-token', namespace: 'monitoring' } });
    expect(redactor.text('cannot read monitoring/metrics-token')).toBe('cannot read monitoring/metrics-token');
  });

  it('gives an error of the same class without them, whatever part of it holds them', () => {
    const redactor = createRedactor();
    redactor.learn(secret({ token: 'abcdef123' }));
    const root = Object.assign(new TypeError('abcdef123 is no URL'), {
      input: 'abcdef123',
      headers: { a: ['abcdef123'] },
    });
    const fault = new Fault('Invalid', 'refused: abcdef123', { causes: [{ message: 'abcdef123' }] }, root);
    const all = new AggregateError([fault], 'all abcdef123', { cause: fault });
    const clean = redactor.error(all);
    expect(clean).toBeInstanceOf(AggregateError);
    expect((clean as AggregateError).cause).toBeInstanceOf(Fault);
    expect(isFault((clean as AggregateError).errors[0], 'Invalid')).toBe(true);
    expect(inspect(clean, { depth: null, showHidden: true })).not.toContain('abcdef123');
    expect(inspect(clean, { depth: null })).toContain('[redacted] is no URL');
    // The one that was given may be somebody else's.
    expect(all.message).toBe('all abcdef123');
  });

  it('survives errors that hold themselves, and what is thrown without being an error', () => {
    const redactor = createRedactor();
    redactor.learn(secret({ token: 'abcdef123' }));
    const endless = new Error('abcdef123');
    endless.cause = endless;
    expect(inspect(redactor.error(endless), { depth: null })).not.toContain('abcdef123');
    expect(redactor.error('abcdef123')).toBe('[redacted]');
    expect(redactor.error(undefined)).toBe(undefined);
  });

  it('has what something throws go on without them, so that a span around it shows nothing', async () => {
    const redactor = createRedactor();
    redactor.learn(secret({ token: 'abcdef123' }));
    expect(await redactor.rethrown(async () => 'abcdef123')).toBe('abcdef123');
    await expect(redactor.rethrown(() => Promise.reject(new Error('no abcdef123')))).rejects.toThrow('no [redacted]');
  });
});
