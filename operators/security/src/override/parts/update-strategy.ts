/** How pods are replaced when their template changes. Not of a pod but of the workload, and of each kind in its own words. */
import type { Problem } from '@keelson/schema';
import { checkValue } from '../patch/check-value.ts';
import { below, isMap, type PlainMap } from '../patch/plain.ts';
import { type Part, titleOf } from './part.ts';

interface Strategy {
  readonly field: string;
  readonly type: string;
  /** What `type` may say. */
  readonly words: readonly string[];
}

const strategies: ReadonlyMap<string, Strategy> = new Map([
  ['DaemonSet', { field: 'updateStrategy', type: 'DaemonSetUpdateStrategy', words: ['RollingUpdate', 'OnDelete'] }],
  ['StatefulSet', { field: 'updateStrategy', type: 'StatefulSetUpdateStrategy', words: ['RollingUpdate', 'OnDelete'] }],
  ['Deployment', { field: 'strategy', type: 'DeploymentStrategy', words: ['RollingUpdate', 'Recreate'] }],
]);

/** Replaced as a whole. */
export const updateStrategy: Part<PlainMap> = {
  merge(workload, value, path) {
    const { object } = workload;
    const strategy = strategies.get(object.kind);
    if (strategy === undefined)
      return {
        workload,
        missed: [{ path, message: `${titleOf(workload)} has none: its pods are made anew each time` }],
      };
    const problems = strategyProblems(value, strategy, path);
    if (problems.length > 0)
      return { workload, missed: problems.map((one) => ({ ...one, message: `${titleOf(workload)}: ${one.message}` })) };
    const spec = isMap(object.spec) ? object.spec : {};
    return { workload: { ...workload, object: { ...object, spec: { ...spec, [strategy.field]: value } } } };
  },
};

function strategyProblems(value: PlainMap, { type, words }: Strategy, path: string): readonly Problem[] {
  const problems = checkValue(value, type, path);
  if (problems.length > 0) return problems;
  const { type: word = 'RollingUpdate', rollingUpdate } = value;
  if (!words.includes(String(word))) return [{ path: below(path, 'type'), message: `must be ${words.join(' or ')}` }];
  if (word !== 'RollingUpdate' && rollingUpdate !== undefined && rollingUpdate !== null)
    return [{ path: below(path, 'rollingUpdate'), message: `must be left out with type ${String(word)}` }];
  return [];
}
