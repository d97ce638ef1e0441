import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Lifecycle } from './lifecycle.ts';
import { defineLifecycle } from './lifecycle.ts';

const challenge = defineLifecycle({
  field: 'phase',
  initial: 'Pending',
  states: ['Pending', 'Running', 'Failed', 'Terminated'],
  transitions: {
    Pending: ['Running', 'Failed'],
    Running: ['Failed', 'Terminated'],
    Failed: ['Running', 'Terminated'],
  },
});

describe('a sound life cycle', () => {
  it('knows its states as types, and is a Lifecycle for the engine', () => {
    expectTypeOf(challenge).toEqualTypeOf<Lifecycle<'Pending' | 'Running' | 'Failed' | 'Terminated'>>();
    expectTypeOf(challenge).toExtend<Lifecycle>();
    // @ts-expect-error a transition to a state that is not declared does not compile
    expect(() => defineLifecycle({ field: 'phase', initial: 'A', states: ['A'], transitions: { A: ['B'] } })).toThrow(
      /'B'/,
    );
  });

  it('lets a declared transition pass and refuses any other, naming the legal ones', () => {
    expect(challenge.check('Pending', 'Running')).toEqual({ legal: true });
    expect(challenge.check('Running', 'Pending')).toEqual({
      legal: false,
      message:
        "status.phase may not go from 'Running' to 'Pending': from 'Running' only 'Failed', 'Terminated' may follow",
    });
  });

  it('lets an instance stay where it is', () => {
    for (const state of challenge.states) expect(challenge.canMove(state, state)).toBe(true);
  });

  it('holds a terminal state for good', () => {
    expect(challenge.terminal).toEqual(['Terminated']);
    expect(challenge.isTerminal('Terminated')).toBe(true);
    expect(challenge.isTerminal(undefined)).toBe(false);
    expect(challenge.check('Terminated', 'Running')).toEqual({
      legal: false,
      message: "status.phase may not go from 'Terminated' to 'Running': 'Terminated' is terminal",
    });
  });

  it.each([undefined, 'WrittenByAnOlderVersion'])(
    'takes %s for the initial state, so that an instance is never wedged',
    (from) => {
      expect(challenge.canMove(from, 'Pending')).toBe(true);
      expect(challenge.canMove(from, 'Running')).toBe(true);
      expect(challenge.check(from, 'Terminated')).toMatchObject({
        legal: false,
        message: expect.stringContaining("from 'Pending' to 'Terminated'"),
      });
    },
  );

  it('refuses a state that it does not know, and names those it knows', () => {
    expect(challenge.check('Pending', 'Paused')).toEqual({
      legal: false,
      message: "'Paused' is not a state of status.phase: the states are 'Pending', 'Running', 'Failed', 'Terminated'",
    });
  });

  it('draws itself for the reference docs', () => {
    expect(challenge.toMermaid()).toBe(
      [
        'stateDiagram-v2',
        '    [*] --> Pending',
        '    Pending --> Running',
        '    Pending --> Failed',
        '    Running --> Failed',
        '    Running --> Terminated',
        '    Failed --> Running',
        '    Failed --> Terminated',
        '    Terminated --> [*]',
        '',
      ].join('\n'),
    );
    expect(challenge.toTable()).toContain('| `Pending` (initial) | `Running`, `Failed` |');
    expect(challenge.toTable()).toContain('| `Terminated` | nothing: terminal |');
  });
});

describe('a flawed table is refused when it is defined', () => {
  const define =
    (definition: {
      field?: string;
      initial?: string;
      states: string[];
      transitions?: Record<string, string[]>;
      terminal?: string[];
    }) =>
    () =>
      defineLifecycle<string>({ field: 'phase', initial: 'A', transitions: {}, ...definition });

  it.each([
    ['an unknown initial state', { states: ['B'] }, "initial state 'A' is not among the states 'B'"],
    ['an unknown origin', { states: ['A'], transitions: { X: ['A'] } }, "transitions from 'X', which is not among"],
    ['an unknown target', { states: ['A'], transitions: { A: ['X'] } }, "transition 'A' → 'X': 'X' is not among"],
    [
      'an unreachable state',
      { states: ['A', 'B', 'C'], transitions: { B: ['C'], C: ['B'] } },
      "state 'B' cannot be reached from 'A'",
    ],
    ['a state listed twice', { states: ['A', 'A'] }, "state 'A' is listed twice"],
    [
      'a transition listed twice',
      { states: ['A', 'B'], transitions: { A: ['B', 'B'] } },
      "transition 'A' → 'B' is listed twice",
    ],
    ['a transition to itself', { states: ['A'], transitions: { A: ['A'] } }, 'staying is always legal'],
    ['no states', { states: [] }, 'it has no states'],
    ['a state that no diagram can show', { initial: 'a b', states: ['a b'] }, "state 'a b' must be letters and digits"],
    [
      'a field that is no path of names',
      { field: 'current..state', states: ['A'] },
      "field 'current..state' must be one field of the status",
    ],
    [
      'a terminal state with transitions',
      { states: ['A', 'B'], transitions: { A: ['B'] }, terminal: ['A', 'B'] },
      "'A' is declared terminal but has transitions",
    ],
    [
      'a state that lost its way out',
      { states: ['A', 'B', 'C'], transitions: { A: ['B', 'C'] }, terminal: ['C'] },
      "state 'B' has no way out and is not declared terminal",
    ],
  ])('%s', (_, definition, message) => {
    expect(define(definition)).toThrow(message);
  });

  it('names every flaw at once', () => {
    expect(define({ states: ['A', 'B'], transitions: { A: ['X'] } })).toThrow(
      /'X' is not among.*state 'B' cannot be reached/,
    );
  });
});

it('follows its own table along any walk: what is legal is exactly what is declared', () => {
  const state = fc.constantFrom(...challenge.states);
  fc.assert(
    fc.property(state, state, (from, to) => {
      const declared = from === to || challenge.transitions[from].includes(to);
      expect(challenge.canMove(from, to)).toBe(declared);
    }),
  );
});
