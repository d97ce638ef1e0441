import { createObjectSet, renderInstance } from '@keelson/runtime';
import { formatProblems } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { createSecurityOperator } from '../../operator.ts';
import { agentOf } from '../../testing/agent.ts';
import { goldenTests } from '../../testing/golden.ts';
import { assess } from './assess.ts';
import { catalogue, policyNames, variables } from './catalogue.ts';
import { kyverno } from './feature.ts';
import { ValidatingPolicy } from './kinds.ts';

goldenTests(import.meta.url, kyverno);

describe('the policies', () => {
  test('are all of the catalogue, in audit mode, unless the user wants otherwise', () => {
    const found = rendered();

    expect(found.map(({ metadata }) => metadata.name.replace('.security-system.main', ''))).toEqual(
      [...policyNames].sort(),
    );
    expect(new Set(found.flatMap(({ spec }) => spec.validationActions))).toEqual(new Set(['Audit']));
  });

  test('look at containers that are added to running pods where they refuse, and at pods alone where Kyverno reports', () => {
    const resources = (mode: string) =>
      rendered({ mode }).flatMap(({ spec }) => spec.matchConstraints.resourceRules.map((one) => one.resources));

    expect(new Set(resources('Audit').flat())).toEqual(new Set(['pods']));
    expect(resources('Enforce')).toEqual(policyNames.map(() => ['pods', 'pods/ephemeralcontainers']));
  });

  test('leave out the namespace of the tools themselves, wherever that is', () => {
    const [first] = rendered({}, { global: { namespace: 'elsewhere' } });

    expect(first?.spec.matchConstraints.namespaceSelector.matchExpressions[0]?.values).toContain('elsewhere');
  });

  test.each(policyNames)('%s speaks of the pod only as Kyverno can rewrite it for what makes pods', (name) => {
    const texts = [catalogue[name].expression, ...variables.map(({ expression }) => expression)];

    expect(texts.join(' ').replaceAll('object.spec.', '').replaceAll('object.?metadata.', '')).not.toMatch(
      /\bobject\b/,
    );
  });

  test('have names that fit into a label, however long that of the agent is, and differ between agents', () => {
    const nameIn = (namespace: string) => {
      const agent = { ...agentOf(['kyverno']), metadata: { name: 'a'.repeat(200), namespace, uid: 'u' } };
      return renderInstance(createSecurityOperator([kyverno]), agent).objects.map(({ metadata }) => metadata.name);
    };
    const policies = [...nameIn('one'), ...nameIn('two')].filter((name) => !name.startsWith('security-agent'));

    expect(new Set(policies).size).toBe(2 * policyNames.length);
    for (const name of policies) expect(name).toMatch(/^[a-z0-9][a-z0-9.-]{0,61}[a-z0-9]$/);
  });
});

describe('assessment', () => {
  const said = (ready: boolean, message = '') => ({ conditionStatus: { ready, message } });

  test.each([
    [
      'nothing is said yet',
      [undefined, undefined],
      'True',
      'Kyverno: 2 policies in place, it has not said anything about them yet',
    ],
    ['all are ready', [said(true), said(true)], 'True', 'Kyverno auditing 2/2 policies'],
    [
      'one is not spoken of yet',
      [said(true), undefined],
      'True',
      'Kyverno auditing 1/2 policies, nothing said about 1 yet',
    ],
    [
      'one is refused',
      [said(true), said(false, 'Policy is not configured in the webhook.')],
      'False',
      'Kyverno auditing 1/2 policies; disallow-privileged.security-system.main: Policy is not configured in the webhook.',
    ],
  ] as const)('%s', (_, statuses, status, message) => {
    // Who has not said anything would stand there as 0 of 2, beside a condition that is True.
    const desired = statuses.some((one) => one !== undefined) ? 2 : undefined;
    const assessment = assessed(statuses);

    expect(assessment).toMatchObject({ status, message });
    expect(assessment.desired).toBe(desired);
  });

  test('the reason is in the conditions where Kyverno gives no message', () => {
    const condition = {
      type: 'RBACPermissionsGranted',
      status: 'False',
      reason: 'Failed',
      message: 'missing permissions',
    };
    const status = {
      conditionStatus: { ready: false, message: '', conditions: [{ ...condition, lastTransitionTime: '' }] },
    };

    expect(assessed([status, undefined]).message).toContain('missing permissions');
  });

  test('a policy that is gone is missed', () => {
    expect(assessed([said(true)])).toMatchObject({ status: 'False', reason: 'NotApplied' });
  });

  function assessed(statuses: readonly (Record<string, unknown> | undefined)[]) {
    const wanted = rendered({ policies: ['disallow-host-path', 'disallow-privileged'] });
    const live = wanted
      .slice(0, statuses.length)
      .map((object, index) => ({ kind: ValidatingPolicy, object: { ...object, status: statuses[index] } }));
    const parsed = kyverno.config.parse({});
    if (!parsed.ok) throw new Error('no default config');
    return assess(parsed.value, {
      title: 'Kyverno',
      wanted,
      owned: createObjectSet(live, 'security-system'),
      related: createObjectSet([], 'security-system'),
      now: new Date(0),
    });
  }
});

describe('bad config is told with its path', () => {
  test.each([
    [{ mode: 'audit' }, 'config.mode'],
    [{ policies: [] }, 'config.policies'],
    [{ policies: ['disallow-everything'] }, 'config.policies[0]'],
    [{ policies: ['require-resources', 'require-resources'] }, 'config.policies[1]'],
    [{ excludeNamespaces: ['Not A Name'] }, 'config.excludeNamespaces[0]'],
    [{ exclude: [] }, 'config.exclude: unknown field'],
  ])('%j', (given, expected) => {
    const parsed = kyverno.config.parse(given, 'config');

    expect(parsed.ok ? '' : formatProblems(parsed.problems)).toContain(expected);
  });
});

function rendered(config: Record<string, unknown> = {}, spec: Record<string, unknown> = {}): ValidatingPolicy[] {
  const agent = agentOf([{ name: 'kyverno', config }], spec);
  const { objects } = renderInstance(createSecurityOperator([kyverno]), agent);
  return objects.filter(({ kind }) => kind === 'ValidatingPolicy') as ValidatingPolicy[];
}
