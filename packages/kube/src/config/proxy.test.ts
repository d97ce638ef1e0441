import { describe, expect, it } from 'vitest';
import { matchesNoProxy } from './proxy.ts';

describe('NO_PROXY', () => {
  it.each([
    ['https://a.example', 'a.example', true],
    ['https://a.example', 'example', true],
    ['https://a.example', '.example', true],
    ['https://example', '.example', false],
    ['https://a.example', '*.example', true],
    ['https://notexample', 'example', false],
    ['https://A.EXAMPLE', 'a.example', true],
    ['https://a.example:6443', 'a.example:6443', true],
    ['https://a.example:6443', 'a.example:443', false],
    ['https://a.example', 'x, a.example ,y', true],
    ['https://a.example', 'x a.example', true],
    ['https://a.example', '*', true],
    ['https://10.1.2.3', '10.1.2.3', true],
    ['https://10.1.2.3', '10.1.0.0/16', true],
    ['https://10.2.2.3', '10.1.0.0/16', false],
    ['https://10.2.2.3', '10.1.0.0/99', false],
    ['https://a.example', '10.0.0.0/8', false],
    ['https://[fd00::1]:6443', 'fd00::/8', true],
    ['https://[fd00::1]:6443', '[fd00::1]:6443', true],
    ['https://a.example', '', false],
  ])('%s against "%s" is %s', (server, noProxy, expected) => {
    expect(matchesNoProxy(new URL(server), noProxy)).toBe(expected);
  });
});
