import { ConfigMap, type KubeObject, Namespace } from '@keelson/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStore } from '../cache/memory-store.ts';
import type { Related } from '../operator.ts';
import { createSimulatedClock } from '../testing/simulated-clock.ts';
import { selectRelated } from './related.ts';
import { createRelations } from './relations.ts';

function configMap(namespace: string, name: string, labels: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name, labels, uid: `${namespace}/${name}`, resourceVersion: '1' },
  };
}

describe('relations', () => {
  it('find the instances that named an object, in their own namespace unless they say another', () => {
    const relations = createRelations(ConfigMap);
    relations.set('shop/a', [{ name: 'settings' }], 'shop');
    relations.set('blog/b', [{ name: 'settings', namespace: 'shop' }], 'blog');
    relations.set('blog/c', [{ name: 'settings' }], 'blog');
    expect([...relations.interested(configMap('shop', 'settings'))]).toEqual(['shop/a', 'blog/b']);
  });

  it('follow a change of mind, and forget who has gone', () => {
    const relations = createRelations(ConfigMap);
    relations.set('shop/a', [{ name: 'old' }, { labels: { app: 'x' } }], 'shop');
    relations.set('shop/a', [{ name: 'new' }], 'shop');
    expect([...relations.interested(configMap('shop', 'old', { app: 'x' }))]).toEqual([]);
    expect([...relations.interested(configMap('shop', 'new'))]).toEqual(['shop/a']);
    relations.clear('shop/a');
    expect([...relations.interested(configMap('shop', 'new'))]).toEqual([]);
    expect(relations.size).toBe(0);
  });

  it('of an instance without a namespace select by labels everywhere', () => {
    const relations = createRelations(ConfigMap);
    relations.set('root', [{ labels: { app: 'x' } }], undefined);
    expect([...relations.interested(configMap('anywhere', 'm', { app: 'x', more: 'y' }))]).toEqual(['root']);
    expect([...relations.interested(configMap('anywhere', 'm', { app: 'z' }))]).toEqual([]);
  });

  it('of a cluster-scoped kind ignore namespaces', () => {
    const relations = createRelations(Namespace);
    relations.set('shop/a', [{ name: 'shop' }], 'shop');
    expect([...relations.interested({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })]).toEqual([
      'shop/a',
    ]);
  });

  it('and what is read agree, whatever is asked for', () => {
    const namespace = fc.constantFrom('shop', 'blog');
    const labels = fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('x', 'y'), { maxKeys: 2 });
    const related: fc.Arbitrary<Related> = fc.oneof(
      fc.constant('all' as const),
      fc.record({ name: fc.constantFrom('m1', 'm2'), namespace }, { requiredKeys: ['name'] }),
      fc.record({ labels, namespace }, { requiredKeys: ['labels'] }),
    );
    const object = fc
      .tuple(namespace, fc.constantFrom('m1', 'm2', 'm3'), labels)
      .map(([ns, name, set]) => configMap(ns, name, set));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('shop/a', 'blog/b', 'root'), fc.array(related, { maxLength: 3 })), {
          maxLength: 8,
        }),
        fc.uniqueArray(object, { selector: ({ metadata }) => metadata.uid }),
        (calls, objects) => {
          const relations = createRelations(ConfigMap);
          const last = new Map<string, readonly Related[]>();
          const namespaceOf = (key: string): string | undefined => (key === 'root' ? undefined : key.split('/')[0]);
          for (const [key, asked] of calls) {
            relations.set(key, asked, namespaceOf(key));
            last.set(key, asked);
          }
          const store = createStore(ConfigMap, { clock: createSimulatedClock() });
          store.replace(objects, '1');
          for (const candidate of objects) {
            const reading = [...last].filter(([key, asked]) =>
              selectRelated(store.view(), asked, namespaceOf(key)).some(
                (live) => live.object.metadata.uid === candidate.metadata.uid,
              ),
            );
            expect([...relations.interested(candidate)].sort()).toEqual(reading.map(([key]) => key).sort());
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
