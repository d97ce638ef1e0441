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
});
