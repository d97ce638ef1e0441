/** The Website's schema as the real API server enforces it. */
import { toCrd } from '@keelson/schema';
import { isApiError, startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Website } from './resource.ts';

describe('the Website resource on a real API server', () => {
  let env: TestEnv;
  const websites = '/apis/example.keelson.io/v1alpha1/namespaces/default/websites';

  beforeAll(async () => {
    env = await startTestEnv({ crds: [toCrd(Website)] });
  });
  afterAll(() => env?.stop());

  /** Creates a Website; the answer is its spec as stored, or what the server complains about. */
  async function create(name: string, spec: unknown): Promise<unknown> {
    const object = { apiVersion: 'example.keelson.io/v1alpha1', kind: 'Website', metadata: { name }, spec };
    try {
      return (await env.adminRequest<{ spec: unknown }>('POST', websites, object)).spec;
    } catch (error) {
      if (isApiError(error)) return error.message;
      throw error;
    }
  }

  it('given one page, when created, then everything else has its default', async () => {
    expect(await create('front', { html: 'hi' })).toEqual({
      html: 'hi',
      image: 'busybox:1.37',
      replicas: 1,
      port: 80,
      public: false,
    });
  });

  it.each([
    [
      'both html and pages',
      'both',
      { html: 'hi', pages: { 'index.html': '' } },
      'exactly one of html, pages must be set',
    ],
    ['neither html nor pages', 'neither', {}, 'exactly one of html, pages must be set'],
    ['pages without an index.html', 'no-index', { pages: { 'a.html': '' } }, 'pages must have an index.html'],
    ['too many replicas', 'many', { html: 'hi', replicas: 21 }, 'spec.replicas'],
    ['a port that is none', 'port', { html: 'hi', port: 0 }, 'spec.port'],
    ['a name that no Service could have', '1st', { html: 'hi' }, 'metadata.name must be a DNS label'],
  ])('given %s, when created, then it is refused and told why', async (_, name, spec, complaint) => {
    expect(await create(name, spec)).toContain(complaint);
  });

  it('given a Website, when scaled as kubectl scale does, then its replicas change', async () => {
    await create('scaled', { html: 'hi' });
    await env.kubectl(['scale', 'website/scaled', '--replicas=3']);
    const { spec } = await env.adminRequest<{ spec: { replicas: number } }>('GET', `${websites}/scaled`);
    expect(spec.replicas).toBe(3);
  });
});
