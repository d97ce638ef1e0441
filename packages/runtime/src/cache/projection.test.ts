import type { KubeObject } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { createTrim } from './projection.ts';
import { createInterner, createSharedPool } from './sharing.ts';

const keep = createInterner();

function object(): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'a',
      namespace: 'shop',
      uid: 'u',
      labels: { app: 'x' },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{…}', note: 'kept' },
      managedFields: [
        { manager: 'kubectl', operation: 'Update', fieldsV1: { 'f:data': {} } },
        { manager: 'us', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {} } } },
      ],
    },
    data: { a: '1', b: '2' },
  };
}

describe('a projection', () => {
  it('keeps everything but the managed fields of others', () => {
    const raw = object();
    const trimmed = createTrim('full', new Set(['us']), keep)(raw);
    expect(trimmed).toEqual({
      ...raw,
      metadata: { ...raw.metadata, managedFields: [raw.metadata.managedFields?.[1]] },
    });
    expect(createTrim('full', new Set(), keep)(raw).metadata.managedFields).toBeUndefined();
    expect(raw).toEqual(object());
  });

  it('of metadata alone keeps no body and no last-applied-configuration', () => {
    const trimmed = createTrim('metadata', new Set(), keep)(object());
    expect(Object.keys(trimmed)).toEqual(['apiVersion', 'kind', 'metadata']);
    expect(trimmed.metadata.annotations).toEqual({ note: 'kept' });
  });

  it('of its own keeps what it likes, and the metadata whatever it does', () => {
    const hold = {
      name: 'a-only',
      keep: (raw: KubeObject) => ({ data: { a: (raw.data as { a: string }).a } }) as unknown as KubeObject,
    };
    const trimmed = createTrim(hold, new Set(), keep)(object());
    expect(trimmed).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: '1' } });
    expect(trimmed.data).toEqual({ a: '1' });
  });

  it('is the same when done twice', () => {
    for (const hold of ['full', 'metadata'] as const) {
      const trim = createTrim(hold, new Set(['us']), keep);
      expect(trim(trim(object()))).toEqual(trim(object()));
    }
  });
});

describe('sharing', () => {
  it('holds equal values once, until the last user lets go', () => {
    const pool = createSharedPool<object>();
    const one = pool.take({ 'f:data': { 'f:a': {} } });
    const two = pool.take({ 'f:data': { 'f:a': {} } });
    expect(two.value).toBe(one.value);
    pool.take({ 'f:spec': {} });
    expect(pool.size).toBe(2);
    pool.release(one);
    expect(pool.size).toBe(2);
    pool.release(two);
    pool.release(undefined);
    expect(pool.size).toBe(1);
  });

  it('of strings and label sets gives back one copy, and stops to remember when they do not repeat', () => {
    const intern = createInterner(1);
    const first = intern.labels({ app: 'x' });
    expect(intern.labels({ app: 'x' })).toBe(first);
    expect(intern.labels({ app: 'y' })).toEqual({ app: 'y' });
    expect(intern.labels({ app: 'y' })).not.toBe(intern.labels({ app: 'y' }));
    expect([intern.text('a'), intern.text('b')]).toEqual(['a', 'b']);
  });
});
