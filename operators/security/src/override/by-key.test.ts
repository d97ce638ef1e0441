import { expect, test } from 'vitest';
import { mergeByKey } from './by-key.ts';

const merge = (before: readonly string[] | undefined, ...changes: readonly string[]): readonly string[] =>
  mergeByKey(before, changes, (text) => text.charAt(0));

test('nothing before, nothing changed', () => {
  expect(merge(undefined)).toEqual([]);
  expect(merge(undefined, 'a1')).toEqual(['a1']);
  expect(merge(['a1', 'b1'])).toEqual(['a1', 'b1']);
});

test('replaced where it stands, added at the end', () => {
  expect(merge(['a1', 'b1', 'c1'], 'd2', 'b2')).toEqual(['a1', 'b2', 'c1', 'd2']);
});

test('several of one key: those before go, those that come stay, in their order', () => {
  expect(merge(['a1', 'b1', 'a2'], 'a3')).toEqual(['a3', 'b1']);
  expect(merge(['a1', 'b1'], 'a3', 'c1', 'a4')).toEqual(['a3', 'a4', 'b1', 'c1']);
});
