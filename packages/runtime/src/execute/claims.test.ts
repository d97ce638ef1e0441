import { defineKind } from '@keelson/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Owner } from '../marks.ts';
import { createClaims } from './claims.ts';

const Website = defineKind({
  group: 'example.io',
  version: 'v1',
  kind: 'Website',
  plural: 'websites',
  scope: 'Namespaced',
});
const owner = (name: string): Owner => ({
  kind: Website,
  name,
  namespace: 'shop',
  uid: `uid-${name}`,
  fieldManager: 'website-operator',
});

describe('claims', () => {
  it('gives an object to the first, and tells the second who that is', () => {
    const claims = createClaims();
    expect(claims.claim(owner('a'), ['x', 'y'])).toEqual(new Map());
    expect(claims.claim(owner('b'), ['y', 'z'])).toEqual(new Map([['y', 'Website/shop/a']]));
  });

  it('lets go of what is no longer wanted, and of everything when the owner is gone', () => {
    const claims = createClaims();
    claims.claim(owner('a'), ['x', 'y']);
    claims.claim(owner('a'), ['x']);
    expect(claims.claim(owner('b'), ['x', 'y']).size).toBe(1);
    claims.release('uid-a');
    expect(claims.claim(owner('b'), ['x', 'y']).size).toBe(0);
    claims.release('uid-b');
    expect(claims.size).toBe(0);
  });

  it('remembers that an object was there only for who holds it', () => {
    const claims = createClaims();
    claims.claim(owner('a'), ['x']);
    claims.saw(owner('b'), 'x');
    expect(claims.wasThere(owner('a'), 'x')).toBe(false);
    claims.saw(owner('a'), 'x');
    expect(claims.wasThere(owner('a'), 'x')).toBe(true);
    expect(claims.wasThere(owner('b'), 'x')).toBe(false);
    claims.claim(owner('a'), []);
    claims.claim(owner('a'), ['x']);
    expect(claims.wasThere(owner('a'), 'x')).toBe(false);
  });

  it('never gives one object to two, whatever they ask for and in whatever order', () => {
    const keys = fc.subarray(['v', 'w', 'x', 'y', 'z']);
    const ask = fc.record({ who: fc.constantFrom('a', 'b', 'c'), keys, leaves: fc.boolean() });
    fc.assert(
      fc.property(fc.array(ask, { maxLength: 30 }), (asks) => {
        const claims = createClaims();
        const held = new Map<string, Set<string>>();
        for (const { who, keys: wanted, leaves } of asks) {
          if (leaves) {
            claims.release(`uid-${who}`);
            held.delete(who);
            continue;
          }
          const refused = claims.claim(owner(who), wanted);
          held.set(who, new Set(wanted.filter((key) => !refused.has(key))));
          const all = [...held.values()].flatMap((set) => [...set]);
          expect(new Set(all).size).toBe(all.length);
          expect(claims.size).toBe(all.length);
          for (const [key, holder] of refused) expect(held.get(holder.slice(-1))?.has(key)).toBe(true);
        }
      }),
    );
  });
});
