import { describe, expect, it } from 'vitest';
import { Fault, type FaultCode } from '../fault.ts';
import { compareResourceVersions, isOlder } from '../resource-version.ts';
import { defaultBackoff, retryInMs } from './pace.ts';

const longest = (code: FaultCode) => retryInMs(new Fault(code, ''), 50, defaultBackoff, 0.999999);

describe('the pace of a reflector', () => {
  it('given a broken stream, the next try follows within 100 ms, and later ones ever more slowly up to 10 s', () => {
    expect(retryInMs(new Fault('StreamBroken', ''), 1, defaultBackoff, 0)).toBe(50);
    expect(retryInMs(new Fault('StreamBroken', ''), 1, defaultBackoff, 0.999999)).toBe(100);
    expect(longest('StreamBroken')).toBe(10_000);
  });

  it('given a missing CRD, it is asked for at least every 5 s; given a missing permission, seldom', () => {
    expect(longest('KindNotServed')).toBe(5_000);
    expect(longest('Forbidden')).toBe(30_000);
    expect(longest('Unauthorized')).toBe(30_000);
  });

  it('given Retry-After, it is honoured', () => {
    expect(retryInMs(new Fault('TooManyRequests', '', { retryAfterMs: 7_000 }), 1, defaultBackoff, 0)).toBe(7_000);
  });
});

describe('comparing resource versions', () => {
  it.each([
    ['9', '10', true],
    ['10', '9', false],
    ['10', '10', false],
    ['99999999999999999999', '100000000000000000000', true],
    ['abc', 'abd', false],
    ['', '1', false],
    ['0', '1', false],
  ])('%s before %s: %s', (a, b, expected) => {
    expect(isOlder(a, b)).toBe(expected);
    expect(compareResourceVersions(a, b) < 0).toBe(expected);
    if (expected) expect(compareResourceVersions(b, a)).toBeGreaterThan(0);
  });
});
