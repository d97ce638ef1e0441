import { Type } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { defineFeature, type Feature, featureList } from './feature.ts';
import { conditionOf } from './feature-id.ts';
import { clerk, guard, judge } from './testing/toy.ts';

const definition = {
  id: 'demo',
  title: 'Demo',
  description: 'Shows.',
  priority: 100,
  version: '1',
  privileges: [],
  config: Type.Object({}),
  contribute: () => [],
};

describe('defineFeature', () => {
  test.each([
    [{ id: 'Demo' }, "id must be lower-case words joined by '_'"],
    [{ id: 'a__b' }, "id must be lower-case words joined by '_'"],
    [{ id: 'a_1' }, "id must be lower-case words joined by '_'"],
    [{ id: 'a'.repeat(41) }, 'at most 40 characters'],
    [{ priority: 1.5 }, 'priority must be a whole number'],
    [{ title: ' ' }, 'title must not be empty'],
    [{ version: '' }, 'version must not be empty'],
  ])('refuses %j', (flaw, message) => {
    expect(() => defineFeature({ ...definition, ...flaw })).toThrow(message);
  });

  test('names its condition after its id, and no two ids share one', () => {
    expect(defineFeature({ ...definition, id: 'otel_pipeline' }).condition).toBe('OtelPipelineReady');
    expect(conditionOf('a_b')).not.toBe(conditionOf('ab'));
  });
});

describe('featureList', () => {
  test('is sorted by priority, then by id', () => {
    expect(featureList([clerk, guard, judge]).map(({ id }) => id)).toEqual(['judge', 'guard', 'clerk']);
  });

  test('one id twice fails at start', () => {
    const twin: Feature = { ...guard };
    expect(() => featureList([guard, twin])).toThrow("feature 'guard' is in the list twice");
  });
});
