/** What a server demands of a toleration beyond its types. */
import type { Problem } from '@keelson/schema';
import { below } from '../patch/plain.ts';
import type { ToolOverride } from '../schema.ts';
import { keyProblem } from './metadata-keys.ts';

type Tolerations = NonNullable<ToolOverride['tolerations']>;

export function checkTolerations(tolerations: Tolerations, path: string): readonly Problem[] {
  return tolerations.flatMap((toleration, index) => checkToleration(toleration, below(path, index)));
}

function checkToleration(toleration: Tolerations[number], path: string): readonly Problem[] {
  const { key = '', operator = 'Equal', value = '', effect, tolerationSeconds } = toleration;
  const problems: Problem[] = [];
  const problem = key === '' ? undefined : keyProblem(key);
  if (problem !== undefined) problems.push({ path: below(path, 'key'), message: problem });
  if (key === '' && operator !== 'Exists')
    problems.push({
      path: below(path, 'operator'),
      message: 'must be Exists where there is no key: it tolerates every taint',
    });
  if (operator === 'Exists' && value !== '')
    problems.push({ path: below(path, 'value'), message: 'must be left out with operator Exists' });
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    problems.push({ path: below(path, 'effect'), message: 'must be NoExecute where tolerationSeconds is set' });
  return problems;
}
