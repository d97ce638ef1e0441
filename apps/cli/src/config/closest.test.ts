import { describe, expect, it } from 'vitest';
import { closest } from './closest.ts';

describe('closest', () => {
  it.each([
    ['flaco', 'falco'],
    ['Falco', 'falco'],
    ['tetragn', 'tetragon'],
    ['otel-pipeline', 'otel_pipeline'],
    ['trivvy', 'trivy'],
    ['nginx', undefined],
    ['x', undefined],
  ])('given %s, when it is no name, then %s was meant', (word, meant) => {
    expect(closest(word, ['falco', 'tetragon', 'otel_pipeline', 'trivy'])).toBe(meant);
  });
});
