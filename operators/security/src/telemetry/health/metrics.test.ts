import { describe, expect, test } from 'vitest';
import { parseMetrics } from './metrics.ts';

const all = () => true;

describe('the text that a collector tells its figures in', () => {
  test.each([
    ['a 1', { name: 'a', labels: {}, value: 1 }],
    ['a{} 1', { name: 'a', labels: {}, value: 1 }],
    ['a{b="c"} 2.68435456e+08', { name: 'a', labels: { b: 'c' }, value: 268_435_456 }],
    ['a{b="c",d=""} 0 1395066363000', { name: 'a', labels: { b: 'c', d: '' }, value: 0 }],
    ['a{b="c",} -1.5', { name: 'a', labels: { b: 'c' }, value: -1.5 }],
    ['a{ b = "c" , d="e" }\t3  ', { name: 'a', labels: { b: 'c', d: 'e' }, value: 3 }],
    ['a{b="x } , = 1 \\" \\\\ \\n"} 7', { name: 'a', labels: { b: 'x } , = 1 " \\ \n' }, value: 7 }],
  ])('%s', (line, sample) => {
    expect(parseMetrics(line, all)).toEqual([sample]);
  });

  test.each([
    '',
    '# HELP a What it is',
    '# TYPE a counter',
    'a',
    'a{b="c"}',
    'a{b="c" 1',
    'a{b=c} 1',
    'a{b="c} 1',
    'a one',
    'a NaN',
    'a +Inf',
    'a 1 2 3',
    '{"a",b="c"} 1',
    '<html>',
  ])('no sample: %j', (line) => {
    expect(parseMetrics(line, all)).toEqual([]);
  });

  test('only what is asked for is looked at, and the rest does no harm', () => {
    const text = '# TYPE a counter\na{x="1"} 1\nb{broken 2\na{x="2"} 2\r\nc 3';
    expect(parseMetrics(text, (name) => name === 'a').map(({ value }) => value)).toEqual([1, 2]);
  });
});
