import { cacheDirectory } from '@keelson/testbed';
import { describe, expect, it } from 'vitest';
import { cacheFolder } from './cache-folder.ts';

describe('cacheFolder', () => {
  it.each([
    {},
    { XDG_CACHE_HOME: '/x' },
    { KEELSON_CACHE: '/k', XDG_CACHE_HOME: '/x' },
    { KEELSON_CACHE: '', XDG_CACHE_HOME: '' },
  ])('given %j, when asked, then it is where the testbed keeps its parts', (env) => {
    expect(cacheFolder(env)).toBe(cacheDirectory(env));
  });
});
