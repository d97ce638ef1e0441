/** What a Website becomes, as files to read: golden/<case>/input.yaml → expected.yaml. `vitest run -u` accepts a change. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderInstance } from '@keelson/runtime';
import type { KubeObject } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { website } from './operator.ts';

const cases = new URL('../golden/', import.meta.url);

function readCase(name: string): KubeObject {
  return parse(readFileSync(new URL(`${name}/input.yaml`, cases), 'utf8')) as KubeObject;
}

describe('a Website, rendered', () => {
  it.each(readdirSync(cases))('given %s, when rendered, then it is as expected.yaml says', async (name) => {
    const { objects, problems } = renderInstance(website, readCase(name));
    expect(problems).toEqual([]);
    const text = objects
      .map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
      .join('---\n');
    await expect(text).toMatchFileSnapshot(fileURLToPath(new URL(`${name}/expected.yaml`, cases)));
  });

  it('given the rules, when counted, then they are under 100 lines, as the docs promise', () => {
    expect(readFileSync(new URL('operator.ts', import.meta.url), 'utf8').split('\n').length).toBeLessThan(100);
  });

  it('given other content, when rendered, then the pod template differs, so that pods restart', () => {
    const site = readCase('one-page');
    const annotations = (html: string) => {
      const { objects } = renderInstance(website, { ...site, spec: { html } });
      const deployment = objects.find(({ kind }) => kind === 'Deployment') as unknown as {
        spec: { template: { metadata: { annotations: Record<string, string> } } };
      };
      return deployment.spec.template.metadata.annotations;
    };
    expect(annotations('<h1>One</h1>')).toEqual(annotations('<h1>One</h1>'));
    expect(annotations('<h1>One</h1>')).not.toEqual(annotations('<h1>Two</h1>'));
  });

  it('given a page that is no file name, when rendered, then it is rejected and named, and nothing is made', () => {
    const site = readCase('several-pages');
    const { decision, objects } = renderInstance(website, {
      ...site,
      spec: { pages: { 'index.html': '', 'a/b.html': '' } },
    });
    expect(decision).toMatchObject({
      kind: 'reject',
      reason: 'BadFileName',
      message: expect.stringContaining("'a/b.html'"),
    });
    expect(objects).toEqual([]);
  });

  it('given neither html nor pages, when rendered, then the problem is told with its path', () => {
    const { problems } = renderInstance(website, { ...readCase('one-page'), spec: { replicas: 0 } });
    expect(problems.map(({ path }) => path)).toEqual(['spec.replicas', 'spec']);
  });
});
