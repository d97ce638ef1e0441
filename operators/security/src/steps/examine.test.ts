import { describe, expect, test } from 'vitest';
import type { Agent } from '../resource.ts';
import { agentOf } from '../testing/agent.ts';
import { clerk, guard, judge } from '../testing/toy.ts';
import { examine } from './examine.ts';

const list = [judge, guard, clerk];
const specOf = (features: Parameters<typeof agentOf>[0]) => agentOf(features).spec as Agent['spec'];

describe('examine', () => {
  test('enabled features run by priority, with the defaults of their config', () => {
    const { active, misfits } = examine(specOf(['clerk', { name: 'guard', config: null }, 'judge']), list);
    expect(active.map(({ feature, config }) => [feature.id, config])).toEqual([
      ['judge', {}],
      ['guard', { level: 'low' }],
      ['clerk', {}],
    ]);
    expect(misfits).toEqual([]);
  });

  test.each([
    [{ name: 'gard' }, 'UnknownFeature', 'spec.features[name=gard].name', 'the features are judge, guard, clerk'],
    [{ name: 'guard', config: { level: 'medium' } }, 'InvalidConfig', 'spec.features[name=guard].config.level', 'low'],
    [{ name: 'guard', config: { level: 3 } }, 'InvalidConfig', 'spec.features[name=guard].config.level', ''],
    [{ name: 'guard', config: { lvel: 'low' } }, 'InvalidConfig', 'spec.features[name=guard].config.lvel', ''],
  ])('%j is told with its path, and the others run', (entry, reason, path, words) => {
    const { active, misfits } = examine(specOf([entry, 'clerk']), list);
    expect(active.map(({ feature }) => feature.id)).toEqual(['clerk']);
    expect(misfits).toMatchObject([{ id: entry.name, reason, problems: [{ path }] }]);
    expect(misfits[0]?.problems[0]?.message).toContain(words);
  });

  test('what is off is told and stands in nobody’s way', () => {
    const { active, misfits, dormant } = examine(
      specOf([{ name: 'guard', enabled: false, config: { level: 3 } }]),
      list,
    );
    expect([active, misfits]).toEqual([[], []]);
    expect(dormant).toHaveLength(1);
  });

  test('one that follows sources runs by itself as soon as somebody writes, unless it is off', () => {
    const carrier = { ...clerk, followsSources: true };
    const run = (features: Parameters<typeof agentOf>[0]) =>
      examine(specOf(features), [guard, judge, carrier]).active.map(({ feature }) => feature.id);
    expect(run(['guard'])).toEqual(['guard', 'clerk']);
    expect(run(['judge'])).toEqual(['judge']);
    expect(run(['guard', { name: 'clerk', enabled: false }])).toEqual(['guard']);
  });
});
