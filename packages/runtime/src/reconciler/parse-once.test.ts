import { defineResource, type KubeObject, Type } from '@keelson/schema';
import { expect, test } from 'vitest';
import { createParseOnce } from './parse-once.ts';

const Thing = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  scope: 'Namespaced',
  description: 'A thing.',
  spec: Type.Object({ size: Type.Integer({ default: 1, minimum: 1 }) }),
});
const thing = (spec: object): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a' },
  spec,
});

test('the same object is looked through once, another one anew', () => {
  const parse = createParseOnce(Thing);
  const good = thing({});
  expect(parse(good)).toMatchObject({ ok: true, instance: { spec: { size: 1 } } });
  expect(parse(good)).toBe(parse(good));
  expect(parse(thing({}))).not.toBe(parse(good));
  const bad = thing({ size: 0 });
  expect(parse(bad)).toMatchObject({ ok: false, problems: [{ path: 'spec.size' }] });
  expect(parse(bad)).toBe(parse(bad));
});
