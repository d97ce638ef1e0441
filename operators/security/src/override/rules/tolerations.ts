/** What a server demands of tolerations beyond their types. */
import type { Problem } from '@keelson/schema';
import type { Toleration } from 'kubernetes-types/core/v1.js';
import { below } from '../patch/plain.ts';
import { keyProblem, valueProblem } from './keys.ts';

/** What is wrong with tolerations. */
export function checkTolerations(tolerations: readonly Toleration[], path: string): readonly Problem[] {
  return tolerations.flatMap((toleration, index) => checkToleration(toleration, below(path, index)));
}

function checkToleration(toleration: Toleration, path: string): readonly Problem[] {
  const { key = '', operator = 'Equal', value = '', effect, tolerationSeconds } = toleration;
  const problems: Problem[] = [];
  const keyWrong = key === '' ? undefined : keyProblem(key);
  if (keyWrong !== undefined) problems.push({ path: below(path, 'key'), message: keyWrong });
  if (key === '' && operator !== 'Exists')
    problems.push({
      path: below(path, 'operator'),
      message: 'must be Exists where there is no key: it tolerates every taint',
    });
  if (operator === 'Exists' && value !== '')
    problems.push({ path: below(path, 'value'), message: 'must be left out with operator Exists' });
  const valueWrong = valueProblem(value);
  if (operator !== 'Exists' && valueWrong !== undefined)
    problems.push({ path: below(path, 'value'), message: valueWrong });
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    problems.push({ path: below(path, 'effect'), message: 'must be NoExecute where tolerationSeconds is set' });
  return problems;
}
