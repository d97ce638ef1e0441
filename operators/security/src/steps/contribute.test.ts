import { ConfigMap, manifest, Type } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { defineFeature, type Feature } from '../feature.ts';
import type { Agent } from '../resource.ts';
import { agentOf } from '../testing/agent.ts';
import { guard } from '../testing/toy.ts';
import { featureContext } from './context.ts';
import { contribute } from './contribute.ts';

/** One that installs no pods. */
const rules = defineFeature({
  id: 'rules',
  title: 'Rules',
  description: 'Rules.',
  priority: 100,
  version: '1',
  privileges: [],
  config: Type.Object({ name: Type.String({ default: 'rules' }) }),
  contribute: ({ name }) => [manifest(ConfigMap, { name }, {})],
});

function contributed(...features: readonly (readonly [Feature, unknown])[]) {
  const context = featureContext(agentOf([]) as unknown as Agent, []);
  const running = features.map(([feature, config]) => ({ feature, config }));
  return contribute(running, context).map(({ objects }) => objects.map(({ kind }) => kind));
}

describe('contribute', () => {
  test('whoever has pods gets an account for them, and nobody else does', () => {
    expect(contributed([guard, { level: 'low' }], [rules, { name: 'rules' }])).toEqual([
      ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'ConfigMap', 'DaemonSet'],
      ['ConfigMap'],
    ]);
  });

  test('two features that want one object are refused, by name', () => {
    expect(() => contributed([guard, { level: 'low' }], [rules, { name: 'guard' }])).toThrow(
      'features guard and rules both contribute ConfigMap guard: rename one',
    );
  });
});
