import { describe, expect, test } from 'vitest';
import { storeWith } from '../telemetry/testing/sources.ts';
import { missingSecret, secretNeeds, secretVersion } from './credentials.ts';

const basic = storeWith({ auth: { secretRef: { name: 'login' } } });
const good = { login: { keys: ['password', 'username'], version: '7' } };

describe('secretNeeds', () => {
  test('names every Secret with the field that asks for it', () => {
    const all = storeWith({
      auth: { apiKeySecretRef: { name: 'login', key: 'k' } },
      tls: { caSecretRef: { name: 'ca', key: 'ca.crt' } },
    });
    expect(secretNeeds(all)).toEqual([
      { path: 'spec.output.elasticsearch.auth.apiKeySecretRef', name: 'login', keys: ['k'] },
      { path: 'spec.output.elasticsearch.tls.caSecretRef', name: 'ca', keys: ['ca.crt'] },
    ]);
    expect(secretNeeds(storeWith())).toEqual([]);
    expect(secretNeeds(undefined)).toEqual([]);
  });
});

describe('missingSecret', () => {
  test.each([
    ['all there', basic, good, undefined],
    [
      'no such Secret',
      basic,
      { login: null },
      "there is no Secret 'login' in namespace sec: create it with the keys 'username' and 'password'",
    ],
    [
      'a key is missing',
      basic,
      { login: { keys: ['username'], version: '1' } },
      "Secret 'login' in namespace sec lacks the key 'password'",
    ],
    ['nobody could look', basic, undefined, undefined],
  ])('%s', (_case, wanted, findings, message) => {
    const found = missingSecret(wanted, 'sec', findings);
    if (message === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(message);
  });
});

test('the version changes with any Secret that is asked for, and holds nothing of it', () => {
  const both = { ...good, ca: { keys: [], version: '9' } };
  expect(secretVersion(good, new Set(['login']))).toBe('login=7');
  expect(secretVersion(both, new Set(['login', 'ca']))).toBe('ca=9,login=7');
  expect(secretVersion(both, new Set(['ca']))).toBe('ca=9');
  expect(secretVersion(both, new Set())).toBeUndefined();
  expect(secretVersion({ login: null }, new Set(['login']))).toBeUndefined();
  expect(secretVersion(undefined, new Set(['login']))).toBeUndefined();
});
