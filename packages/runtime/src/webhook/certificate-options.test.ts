import { expect, it } from 'vitest';
import { toPolicy } from './certificate-options.ts';

const secret = { namespace: 'keelson', name: 'webhooks' };

it('gives an authority a year and a certificate thirty days unless told', () => {
  const day = 86_400_000;
  expect(toPolicy({ secret }, ['a'])).toEqual({
    authorityLifetimeMs: 365 * day,
    servingLifetimeMs: 30 * day,
    propagationMs: 30_000,
    names: ['a'],
  });
});

it('refuses lifetimes that could not overlap, and says why', () => {
  expect(() => toPolicy({ secret, authorityLifetime: '100h', servingLifetime: '26h' }, [])).toThrow(
    /servingLifetime 26h must be at most a quarter of authorityLifetime 100h/,
  );
  expect(() => toPolicy({ secret, authorityLifetime: '100s', servingLifetime: '20s', propagation: '5s' }, [])).toThrow(
    /propagation 5s must be at most a fifth of servingLifetime 20s/,
  );
  expect(() => toPolicy({ secret, servingLifetime: 'soon' as '1s' }, [])).toThrow(/'soon' is not a duration/);
});
