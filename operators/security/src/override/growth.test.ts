/** A large override costs in proportion to its size: whatever stands still meanwhile is everybody's. */
import { describe, expect, test } from 'vitest';
import type { Contribution } from '../contribution.ts';
import { mergeByKey } from './by-key.ts';
import { applyOverrides } from './override.ts';
import { strategicMerge } from './patch/strategic-merge.ts';
import type { Override } from './schema.ts';
import { barePod, workload } from './testing/workloads.ts';

const MANY = 16_000;

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

describe('how often keys are looked at', () => {
  test('a merged list: a few times for each item, however many there are', () => {
    let reads = 0;
    const named = (index: number): object =>
      Object.defineProperty({}, 'name', {
        enumerable: true,
        get: () => {
          reads += 1;
          return `v${index}`;
        },
      });
    const volumes = numbers(MANY).map(named);

    const merged = strategicMerge({ volumes }, { volumes: [...volumes].reverse() }, 'PodSpec');

    expect(merged.volumes).toHaveLength(MANY);
    expect(reads).toBeLessThan(40 * MANY);
  });

  test('words of an override: a few times for each item', () => {
    let reads = 0;
    const items = numbers(MANY);

    const merged = mergeByKey(items, items, (item) => {
      reads += 1;
      return String(item);
    });

    expect(merged).toEqual(items);
    expect(reads).toBe(3 * MANY);
  });
});

const contributions: readonly Contribution[] = [{ feature: 'falco', objects: [workload('DaemonSet', barePod)] }];

/** Microseconds of this thread, which other programs do not add to: the least of a few runs, for a collection of garbage may. */
function cost(override: object): number {
  const runs = numbers(3).map(() => {
    const start = process.threadCpuUsage();
    applyOverrides(override as Override, contributions, ['falco']);
    const { user, system } = process.threadCpuUsage(start);
    return user + system;
  });
  return Math.min(...runs);
}

const patch = (spec: object) => ({ podTemplate: { spec } });
const names = (count: number, prefix: string) => numbers(count).map((index) => ({ name: `${prefix}${index}` }));

test.each<[string, (count: number) => object]>([
  ['volumes in a patch', (count) => ({ nodeAgent: patch({ volumes: names(count, 'v') }) })],
  [
    'the same volumes at two levels',
    (count) => ({ nodeAgent: { volumes: names(count, 'v') }, perTool: { falco: { volumes: names(count, 'v') } } }),
  ],
  [
    'volumes, and all of them mounted',
    (count) => ({
      nodeAgent: {
        volumes: names(count, 'v'),
        volumeMounts: names(count, 'v').map(({ name }) => ({ name, mountPath: `/${name}` })),
      },
    }),
  ],
  ['containers that the pod does not have', (count) => ({ nodeAgent: patch({ containers: names(count, 'x') }) })],
  [
    'containers that the pod has of another level, mistyped',
    (count) => ({
      nodeAgent: patch({ containers: names(count, 'sidecar').map((one) => ({ ...one, image: 'a:1' })) }),
      perTool: { falco: patch({ containers: names(count, 'sidebar') }) },
    }),
  ],
])('eight times as much takes no more than a few times eight: %s', (_, override) => {
  cost(override(200));
  expect(cost(override(MANY / 2)) / cost(override(MANY / 16))).toBeLessThan(30);
});
