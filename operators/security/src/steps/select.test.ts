import { createObjectSet, type Observed } from '@keelson/runtime';
import { DaemonSet, type Kind, type KubeObject } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { FEATURE_LABEL } from '../names.ts';
import { type Agent, SecurityAgent } from '../resource.ts';
import { agentOf } from '../testing/agent.ts';
import { clerk, guard, judge, Policy } from '../testing/toy.ts';
import type { Findings } from './credentials.ts';
import { ownedKinds } from './kinds.ts';
import type { Outside } from './outside.ts';
import { selectFeatures } from './select.ts';

const features = [judge, guard, clerk];

interface Situation {
  readonly installed?: readonly string[];
  readonly missing?: readonly Kind[];
  readonly others?: readonly KubeObject[];
  readonly findings?: Findings;
}

function select(agent: KubeObject, { installed = [], missing = [], others = [], findings }: Situation = {}) {
  const live = installed.map((id) => ({
    kind: DaemonSet,
    object: {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: id, namespace: 'security-system', labels: { [FEATURE_LABEL]: id } },
    },
  }));
  const observed: Observed<typeof SecurityAgent, Outside | undefined> = {
    self: agent as unknown as Agent,
    owned: createObjectSet(live, 'security-system'),
    related: createObjectSet(
      others.map((object) => ({ kind: SecurityAgent, object })),
      'security-system',
    ),
    served: (kind) => !missing.includes(kind),
    external: findings === undefined ? undefined : { secrets: findings },
    effects: new Map(),
    now: new Date(0),
  };
  return selectFeatures(observed, features, ownedKinds(features));
}
const running = (selection: ReturnType<typeof select>) => selection.running.map(({ feature }) => feature.id);

describe('selectFeatures', () => {
  test('what can run, runs', () => {
    const selection = select(agentOf(['guard', 'judge', 'clerk']));
    expect(running(selection)).toEqual(['judge', 'guard', 'clerk']);
    expect([selection.held, selection.kept]).toEqual([[], []]);
    expect(selection.sources.map(({ tool }) => tool)).toEqual(['guard']);
  });

  test('a kind that is missing holds its feature, with the remedy', () => {
    const selection = select(agentOf(['guard', 'judge']), { missing: [Policy] });
    expect(running(selection)).toEqual(['guard']);
    expect(selection.held).toMatchObject([
      {
        id: 'judge',
        reason: 'KindMissing',
        message: 'ToyPolicy (toys.example.com/v1) is not installed in the cluster: install the toys',
      },
    ]);
  });

  test('what a held feature installed before is kept, and its events are still read', () => {
    const bad = { name: 'guard', config: { level: 'medium' } };
    const selection = select(agentOf([bad]), { installed: ['guard'] });
    expect(selection.kept.map(({ metadata }) => metadata.name)).toEqual(['guard']);
    expect(selection.sources.map(({ tool }) => tool)).toEqual(['guard']);
    expect(select(agentOf([bad])).sources).toEqual([]);
  });

  test('what is off is not kept', () => {
    const selection = select(agentOf([{ name: 'guard', enabled: false }]), { installed: ['guard'] });
    expect([selection.held, selection.kept, selection.sources]).toEqual([[], [], []]);
  });

  test('a tool that another agent has is held, and not kept: two would write one file', () => {
    const older = {
      ...agentOf(['guard']),
      metadata: { name: 'other', namespace: 'b', uid: 'x', creationTimestamp: '2020-01-01T00:00:00Z' },
    };
    const other = { ...older, status: { installed: ['guard'] } };
    const selection = select(agentOf(['guard']), { others: [other], installed: ['guard'] });
    expect(selection.held).toMatchObject([{ id: 'guard', reason: 'ClaimedByAnotherAgent' }]);
    expect(selection.held[0]?.message).toContain(
      'SecurityAgent b/other has Guard on these nodes, and both would write',
    );
    expect(selection.kept).toEqual([]);
  });

  test('a Secret that is missing holds only what uses it', () => {
    const output = { elasticsearch: { url: 'https://es', indices: {}, auth: { secretRef: { name: 'login' } } } };
    const selection = select(agentOf(['guard', 'clerk'], { output }), { findings: { login: null } });
    expect(running(selection)).toEqual(['guard']);
    expect(selection.held).toMatchObject([{ id: 'clerk', reason: 'SecretMissing' }]);
  });
});
