import { formatProblems } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { goldenTests } from '../../testing/golden.ts';
import { sampleTool } from './feature.ts';

goldenTests(import.meta.url, sampleTool);

describe('bad config is told with its path', () => {
  test.each([
    [{ interval: 0 }, 'config.interval: must be at least 1'],
    [{ intervall: 60 }, 'config.intervall: unknown field'],
  ])('%j', (given, expected) => {
    const parsed = sampleTool.config.parse(given, 'config');

    expect(parsed.ok ? '' : formatProblems(parsed.problems)).toContain(expected);
  });
});
