import { ClusterRole, ConfigMap, type Kind, type KubeObject, type Ref, Secret } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { isOperatorBug } from './bug.ts';
import type { Read } from './operator.ts';
import { createReader } from './reader.ts';
import { createRedactor } from './redact.ts';

function setUp(reads: readonly Read[]) {
  const asked: [string, Ref][] = [];
  const redactor = createRedactor();
  const client = {
    find: async <T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<T> => {
      asked.push([kind.kind, ref]);
      return {
        apiVersion: 'v1',
        kind: kind.kind,
        metadata: { name: ref.name },
        data: { key: btoa('very secret') },
      } as unknown as T;
    },
  };
  const reader = createReader({
    operator: { name: 'web', reads },
    client,
    namespace: 'shop',
    signal: new AbortController().signal,
    redactor,
  });
  return { reader, asked, redactor };
}

describe('the reader', () => {
  it('reads what is declared, by default in the namespace of the instance', async () => {
    const { reader, asked } = setUp([
      { kind: Secret, why: 'x' },
      { kind: ClusterRole, why: 'x' },
    ]);
    await reader.find(Secret, { name: 'a' });
    await reader.find(Secret, { name: 'a', namespace: 'other' });
    await reader.find(ClusterRole, { name: 'r' });
    expect(asked).toEqual([
      ['Secret', { name: 'a', namespace: 'shop' }],
      ['Secret', { name: 'a', namespace: 'other' }],
      ['ClusterRole', { name: 'r' }],
    ]);
  });

  it('learns the values of Secrets, so that they can be kept out of messages', async () => {
    const { reader, redactor } = setUp([{ kind: Secret, why: 'x' }]);
    await reader.find(Secret, { name: 'a' });
    expect(redactor.text('it is very secret')).toBe('it is [redacted]');
  });

  it.each<[string, Read[], Kind, Ref]>([
    ['a kind', [{ kind: ConfigMap, why: 'x' }], Secret, { name: 'a' }],
    ['a name', [{ kind: Secret, names: ['b'], why: 'x' }], Secret, { name: 'a' }],
    ['a namespace', [{ kind: Secret, namespace: 'other', why: 'x' }], Secret, { name: 'a' }],
  ])('refuses %s that is not declared, because its permission would be missing too', async (_, reads, kind, ref) => {
    const { reader, asked } = setUp(reads);
    const error = await reader.find(kind, ref).catch((thrown: unknown) => thrown);
    expect(isOperatorBug(error) && error.message).toMatch(
      /operator web reads Secret shop\/a, which its reads do not cover: add \{ kind: Secret/,
    );
    expect(asked).toEqual([]);
  });
});
