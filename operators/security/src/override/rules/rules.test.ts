/** What a server demands beyond types; server.test.ts asks one whether it does. */
import type { Toleration } from 'kubernetes-types/core/v1.js';
import { describe, expect, test } from 'vitest';
import { checkAnnotations, checkLabels } from './keys.ts';
import { checkResources } from './resources.ts';
import { checkSleeps } from './sleeps.ts';
import { checkTolerations } from './tolerations.ts';

const long = (length: number): string => 'a'.repeat(length);

describe('keys and values', () => {
  test.each(['a', 'A_b.c-1', 'example.com/a', `${long(63)}`, `${long(253)}/a`])('%s is a key', (key) => {
    expect(checkLabels({ [key]: '' }, 'labels')).toEqual([]);
  });

  test.each(['', 'a b', '-a', 'a-', '/a', 'example.com/', 'Example.com/a', 'a/b/c', long(64), `${long(254)}/a`])(
    '%j is none',
    (key) => {
      const [problem] = checkLabels({ [key]: '' }, 'labels');
      expect(problem?.path).toBe(/^[A-Za-z_$][\w$-]*$/.test(key) ? `labels.${key}` : `labels[${JSON.stringify(key)}]`);
      expect(problem?.message).toMatch(/^is no key: /);
    },
  );

  test('values of labels are bounded, those of annotations are not', () => {
    expect(checkLabels({ a: long(64) }, 'labels')[0]?.message).toMatch(/^must be at most 63 letters/);
    expect(checkAnnotations({ a: `${long(64)} b`, 'Example.com/a': '' }, 'annotations')).toEqual([]);
    expect(checkAnnotations({ 'a b': '' }, 'annotations')).toHaveLength(1);
  });
});

describe('sleeps', () => {
  const ending = (seconds: number) => [{ name: 'a', lifecycle: { preStop: { sleep: { seconds } } } }];
  test.each([
    [0, 5],
    [5, 5],
    [30, undefined],
  ])('%d s fit into %j', (seconds, grace) => {
    expect(checkSleeps(ending(seconds), grace, 'at')).toEqual([]);
  });

  test.each([
    [6, 5],
    [-1, 5],
    [31, undefined],
  ])('%d s do not fit into %j', (seconds, grace) => {
    expect(checkSleeps(ending(seconds), grace, 'at').map(({ path }) => path)).toEqual([
      'at[0].lifecycle.preStop.sleep.seconds',
    ]);
  });
});

describe('tolerations', () => {
  test.each<[string, Toleration, string | undefined]>([
    ['everything', { operator: 'Exists' }, undefined],
    ['a key', { key: 'a', operator: 'Exists', effect: 'NoSchedule' }, undefined],
    ['a key and a value', { key: 'a', value: 'b' }, undefined],
    ['a while', { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }, undefined],
    ['nothing', {}, 'at[0].operator'],
    ['a value of nothing', { value: 'a' }, 'at[0].operator'],
    ['a value of anything', { key: 'a', operator: 'Exists', value: 'b' }, 'at[0].value'],
    ['a value that is none', { key: 'a', value: 'b c' }, 'at[0].value'],
    ['a key that is none', { key: 'a b', operator: 'Exists' }, 'at[0].key'],
    ['a while of no eviction', { operator: 'Exists', tolerationSeconds: 5 }, 'at[0].effect'],
  ])('%s', (_title, toleration, path) => {
    expect(checkTolerations([toleration], 'at').map((problem) => problem.path)).toEqual(
      path === undefined ? [] : [path],
    );
  });
});

describe('resources', () => {
  test.each([
    ['100m', '0.1'],
    ['1', '1000m'],
    ['1Gi', '1024Mi'],
    ['1G', '1Gi'],
    ['1e3', '1k'],
    ['5E', '5Ei'],
    ['100n', '1u'],
    ['.5', '1'],
    ['1Pi', '1024Ti'],
  ])('%s is within %s', (request, limit) => {
    expect(checkResources({ requests: { memory: request }, limits: { memory: limit } }, 'at')).toEqual([]);
  });

  test.each([
    ['101m', '0.1'],
    ['1Gi', '1G'],
    ['2', '1999m'],
    ['1e4', '1k'],
    ['1Ei', '1E'],
    ['1Ti', '1023Gi'],
  ])('%s is more than %s', (request, limit) => {
    expect(checkResources({ requests: { memory: request }, limits: { memory: limit } }, 'at')).toEqual([
      { path: 'at.requests.memory', message: `${request} is more than the limit, ${limit}` },
    ]);
  });

  test('names are those that a server knows, or have a domain', () => {
    const names = ['cpu', 'memory', 'ephemeral-storage', 'hugepages-2Mi', 'nvidia.com/gpu', 'mem', 'gpu'];
    const requests = Object.fromEntries(names.map((name) => [name, '1']));
    expect(checkResources({ requests }, 'at').map(({ path }) => path)).toEqual(['at.requests.mem', 'at.requests.gpu']);
  });

  test('an amount that is none is told as such', () => {
    expect(checkResources({ limits: { cpu: 'much' } }, 'at')).toEqual([
      { path: 'at.limits.cpu', message: "must be an amount such as 100m or 128Mi, got 'much'" },
    ]);
  });
});
