import { ClusterRole, ConfigMap, Secret } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { createObjectSet } from './observed.ts';

const configMap = (name: string, namespace: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
});
const role: ClusterRole = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'a' } };

describe('an object set', () => {
  const set = createObjectSet(
    [
      { kind: ConfigMap, object: configMap('a', 'shop') },
      { kind: ConfigMap, object: configMap('a', 'other') },
      { kind: ClusterRole, object: role },
    ],
    'shop',
  );

  it('looks in the namespace of the instance unless told otherwise', () => {
    expect(set.get(ConfigMap, 'a')?.metadata.namespace).toBe('shop');
    expect(set.get(ConfigMap, { name: 'a', namespace: 'other' })?.metadata.namespace).toBe('other');
    expect(set.get(ConfigMap, 'b')).toBeUndefined();
  });

  it('does not mind the namespace of what is cluster-scoped', () => {
    expect(set.get(ClusterRole, 'a')).toBe(role);
  });

  it('lists by kind and counts', () => {
    expect(set.list(ConfigMap)).toHaveLength(2);
    expect(set.list(Secret)).toEqual([]);
    expect(set.size).toBe(3);
  });
});
