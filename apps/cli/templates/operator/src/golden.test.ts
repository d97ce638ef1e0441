/** What a Widget becomes, as files to read: golden/<case>/input.yaml → expected.yaml. `make golden` accepts a change. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderInstance } from '@keelson/runtime';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { widgetOperator } from './operator.ts';

const cases = new URL('../golden/', import.meta.url);

describe('a Widget, rendered', () => {
  it.each(readdirSync(cases))('given %s, when rendered, then it is as expected.yaml says', async (name) => {
    const input = parse(readFileSync(new URL(`${name}/input.yaml`, cases), 'utf8'));
    const { objects, problems } = renderInstance(widgetOperator, input);
    expect(problems).toEqual([]);
    const text = objects
      .map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
      .join('---\n');
    await expect(text).toMatchFileSnapshot(fileURLToPath(new URL(`${name}/expected.yaml`, cases)));
  });

  it('given too many replicas, when rendered, then the path of the problem is told', () => {
    const input = parse(readFileSync(new URL('minimal/input.yaml', cases), 'utf8'));
    const { problems } = renderInstance(widgetOperator, { ...input, spec: { replicas: 11 } });
    expect(problems).toEqual([{ path: 'spec.replicas', message: 'must be at most 10, got 11' }]);
  });
});
