import { describe, expect, test } from 'vitest';
import type { Agent } from '../resource.ts';
import { agentOf } from '../testing/agent.ts';
import { claimant } from './claims.ts';

const agent = (
  name: string,
  more: {
    age?: string;
    runs?: boolean;
    held?: boolean;
    off?: boolean;
    nodes?: Record<string, string>;
    only?: Record<string, string>;
    patch?: Record<string, string | null>;
  } = {},
) => {
  const { age = '2026-01-01T00:00:00Z', runs = false, held = false, off = false, nodes, only, patch } = more;
  const override = {
    nodeAgent: {
      ...(nodes === undefined ? {} : { nodeSelector: nodes }),
      ...(patch === undefined ? {} : { podTemplate: { spec: { nodeSelector: patch } } }),
    },
    ...(only === undefined ? {} : { perTool: { guard: { nodeSelector: only } } }),
  };
  const object = agentOf([{ name: 'guard', enabled: !off }], { override });
  return {
    ...object,
    metadata: { name, namespace: name, uid: name, creationTimestamp: age },
    status: { ...(runs ? { installed: ['guard'] } : {}), ...(held ? { features: { guard: 'False' } } : {}) },
  } as unknown as Agent;
};
const claim = {
  tool: { feature: 'guard', workload: 'guard' },
  collectors: { feature: 'carrier', workload: 'otel-node-collector' },
};
const older = { age: '2025-01-01T00:00:00Z' };

describe('claimant', () => {
  test.each<[string, Agent, boolean, Agent, boolean]>([
    ['nobody runs it: the older has it', agent('a'), false, agent('b', older), true],
    ['nobody runs it: the younger does not', agent('a', older), false, agent('b'), false],
    ['the younger runs it already', agent('a', older), false, agent('b', { runs: true }), true],
    ['I run it, the older does not yet', agent('a'), true, agent('b', older), false],
    ['both run it: the older stays', agent('a'), true, agent('b', { ...older, runs: true }), true],
    ['of one age the first by name has it', agent('b'), false, agent('a'), true],
    ['the older is held for a reason of its own', agent('a'), false, agent('b', { ...older, held: true }), false],
    ['the older is held, and goes on', agent('a'), false, agent('b', { ...older, held: true, runs: true }), true],
    ['it is off there', agent('a'), false, agent('b', { ...older, off: true }), false],
    ['it is not asked for there, and still there', agent('a'), false, agent('b', { off: true, runs: true }), true],
    ['other nodes', agent('a', { nodes: { team: 'x' } }), false, agent('b', { ...older, nodes: { team: 'y' } }), false],
    [
      'other nodes for this tool alone: the collectors of the one would read what the tool of the other writes',
      agent('a', { only: { team: 'x' } }),
      false,
      agent('b', { ...older, nodes: { team: 'y' } }),
      true,
    ],
    [
      'other nodes, by a patch',
      agent('a', { patch: { team: 'x' } }),
      false,
      agent('b', { ...older, nodes: { team: 'y' } }),
      false,
    ],
    [
      'other nodes, taken back by a patch',
      agent('a', { nodes: { team: 'x' }, patch: { team: null } }),
      false,
      agent('b', { ...older, nodes: { team: 'y' } }),
      true,
    ],
    [
      'nodes that overlap',
      agent('a', { nodes: { team: 'x' } }),
      false,
      agent('b', { ...older, nodes: { zone: 'y' } }),
      true,
    ],
    ['one of them everywhere', agent('a', { nodes: { team: 'x' } }), false, agent('b', older), true],
  ])('%s', (_case, self, running, other, claimed) => {
    expect(claimant(self, [self, other], { ...claim, running })?.metadata.name).toBe(
      claimed ? other.metadata.name : undefined,
    );
  });

  test('of any two agents exactly one has the tool', () => {
    for (const [a, b] of [
      [agent('a'), agent('b')],
      [agent('a', { runs: true }), agent('b', { runs: true })],
      [agent('a', { ...older, runs: false }), agent('b', { runs: true })],
    ] as const) {
      const runs = (one: Agent) => one.status?.installed?.includes('guard') === true;
      const claims = [
        claimant(a, [a, b], { ...claim, running: runs(a) }),
        claimant(b, [a, b], { ...claim, running: runs(b) }),
      ];
      expect(claims.filter((one) => one === undefined)).toHaveLength(1);
    }
  });
});
