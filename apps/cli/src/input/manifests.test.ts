import { describe, expect, it } from 'vitest';
import { isFailure } from '../failure.ts';
import { parseManifests } from './manifests.ts';

function complaint(text: string): { message: string; exit?: string } {
  try {
    parseManifests(text, 'site.yaml');
  } catch (error) {
    return isFailure(error) ? { message: error.message, exit: error.exit } : { message: String(error) };
  }
  return { message: 'accepted' };
}

describe('parseManifests', () => {
  it('given several documents, a comment-only one and a List, when parsed, then every object comes with its line', () => {
    const text = [
      'apiVersion: v1',
      'kind: ConfigMap',
      'metadata: { name: a }',
      '---',
      '# nothing here',
      '---',
      'apiVersion: v1',
      'kind: List',
      'items:',
      '  - { apiVersion: v1, kind: Secret, metadata: { name: b } }',
    ].join('\n');
    expect(
      parseManifests(text, 'site.yaml').map(({ object, place }) => `${place} ${object.kind}/${object.metadata.name}`),
    ).toEqual(['site.yaml:1 ConfigMap/a', 'site.yaml:7 items[0] Secret/b']);
  });

  it('given a key that stands twice, when parsed, then the complaint names line and column', () => {
    expect(complaint('apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\nkind: Secret\n')).toEqual({
      exit: 'usage',
      message: 'site.yaml:4:1: not valid YAML: Map keys must be unique',
    });
  });

  it('given broken indentation, when parsed, then the complaint names line and column', () => {
    expect(complaint('kind: A\n  name: b\n').message).toMatch(/^site\.yaml:\d+:\d+: not valid YAML: /);
  });

  it.each([
    ['kind: ConfigMap\nmetadata: { name: a }', 'site.yaml:1: apiVersion is missing'],
    ['apiVersion: v1\nkind: 7\nmetadata: { name: a }', 'site.yaml:1: kind is not a string: 7'],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {}', 'site.yaml:1: metadata.name is missing'],
    ['- a\n- b', 'site.yaml:1: expected an object with apiVersion, kind and metadata, found a list'],
    ['just words', "site.yaml:1: expected an object with apiVersion, kind and metadata, found 'just words'"],
  ])('given %j, when parsed, then it says %j', (text, message) => {
    expect(complaint(text)).toEqual({ exit: 'usage', message });
  });
});
