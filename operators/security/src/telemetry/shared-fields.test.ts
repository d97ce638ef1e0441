import { describe, expect, test } from 'vitest';
import { optional, sharedFields } from './shared-fields.ts';
import { guard, watcher } from './testing/sources.ts';

type Operator = Readonly<Record<string, string>>;
const operators = sharedFields(guard, 'attributes.guard') as readonly Operator[];
const operatorOf = (name: string) => operators.find(({ field }) => field === `attributes["${name}"]`);

describe('the fields that all tools share', () => {
  test.each([
    ['rule', 'attributes.guard?.rule'],
    ['process.binary', 'attributes.guard?.process?.binary'],
    ['output_fields["k8s.ns.name"]', 'attributes.guard?.output_fields?.["k8s.ns.name"]'],
    ['a["b.c"].d', 'attributes.guard?.a?.["b.c"]?.d'],
  ])('%s is nothing where any part of it is missing', (path, expected) => {
    expect(optional('attributes.guard', path)).toBe(expected);
  });

  test('are those that the source names, from the first path that is there, and only texts that say something', () => {
    expect(operatorOf('kubernetes.pod.name')).toEqual({
      type: 'add',
      if: 'let found = (attributes.guard?.where?.["k8s.pod"] ?? attributes.guard?.where?.pod); type(found) == "string" && found not in ["", "<NA>"]',
      field: 'attributes["kubernetes.pod.name"]',
      value: 'EXPR((attributes.guard?.where?.["k8s.pod"] ?? attributes.guard?.where?.pod))',
      on_error: 'send_quiet',
    });
    expect(sharedFields(watcher, 'attributes.watcher')).toEqual([]);
  });

  test('techniques are told from other labels, by a pattern that the collector does not expand', () => {
    expect(operatorOf('threat.technique.id')?.value).toContain('matches "^T[0-9]{4}([.][0-9]{3})?$$"');
  });
});
