import { describe, expect, it } from 'vitest';
import { toQuery } from './restarting-pods.ts';

describe('toQuery', () => {
  it('given labels and expressions, when written as a query, then it is what the API takes', () => {
    expect(
      toQuery({
        matchLabels: { app: 'web' },
        matchExpressions: [
          { key: 'tier', operator: 'In', values: ['a', 'b'] },
          { key: 'old', operator: 'DoesNotExist' },
          { key: 'new', operator: 'Exists' },
          { key: 'x', operator: 'NotIn', values: ['y'] },
        ],
      }),
    ).toBe('app=web,tier in (a,b),!old,new,x notin (y)');
  });
});
