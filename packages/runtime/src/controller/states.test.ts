import type { KubeObject } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { defineLifecycle } from '../lifecycle.ts';
import { countStates } from './states.ts';

const lifecycle = defineLifecycle({
  field: 'current.state',
  initial: 'None',
  states: ['None', 'Running', 'Deleted'],
  transitions: { None: ['Running'], Running: ['Deleted'] },
});
const instances = (...states: readonly unknown[]) => ({
  list: () =>
    states.map((status) => ({
      object: { apiVersion: 'x/v1', kind: 'X', metadata: { name: 'x' }, status } as KubeObject,
    })),
});

describe('instances by state', () => {
  it('are counted with every state in the table, and as initial where the state is missing or unknown', () => {
    const found = instances(
      { current: { state: 'Running' } },
      { current: { state: 'Running' } },
      { current: { state: 'OfAnOlderVersion' } },
      { current: 'nonsense' },
      undefined,
    );
    expect(Object.fromEntries(countStates(lifecycle, found))).toEqual({ None: 3, Running: 2, Deleted: 0 });
  });

  it('are not counted without a life cycle', () => {
    expect(countStates(undefined, instances({})).size).toBe(0);
  });
});
