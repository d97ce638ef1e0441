import { describe, expect, test } from 'vitest';
import { agentLabel, scopedName } from './names.ts';

describe('scopedName', () => {
  test('no two agents come to one name, however they are called', () => {
    const names = [
      scopedName({ namespace: 'a', name: 'b-c' }, 'falco'),
      scopedName({ namespace: 'a-b', name: 'c' }, 'falco'),
      scopedName({ namespace: 'a', name: 'b.c' }, 'falco'),
      scopedName({ namespace: 'a', name: 'b' }, 'falco'),
    ];
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(['x', '.'])('at the limits it is cut, is still a name, and still differs', (last) => {
    const namespace = 'n'.repeat(63);
    const long = (end: string) =>
      scopedName({ namespace, name: `${`${last === '.' ? 'a.' : 'ax'}`.repeat(125)}${end}` }, 'falco');
    expect(long('aaa')).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
    expect(long('aaa').length).toBeLessThanOrEqual(253);
    expect(long('aaa')).not.toBe(long('bbb'));
  });
});

test('the label of an agent with the longest names fits', () => {
  const label = agentLabel({ namespace: 'n'.repeat(63), name: 'a'.repeat(253) });
  expect(label).toMatch(/^[a-z0-9]([-a-z0-9_.]*[a-z0-9])?$/);
  expect(label.length).toBeLessThanOrEqual(63);
});
