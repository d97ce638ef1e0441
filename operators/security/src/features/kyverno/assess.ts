/** How Kyverno does: by what it says of our policies itself. That it runs is not ours to see; what it says is. */
import type { AssessContext, Assessment } from '../../assess/assessment.ts';
import { LONGEST_MESSAGE, shorten } from '../../assess/text.ts';
import { assessWorkloads } from '../../assess/workloads.ts';
import type { Config } from './config.ts';
import { ValidatingPolicy } from './kinds.ts';

/** Not ready as soon as Kyverno says so of one policy; what it has not spoken of yet is told, and no fault. */
export function assess({ mode }: Config, context: AssessContext): Assessment {
  const { title, wanted, owned } = context;
  const presence = assessWorkloads({ ...context, kinds: [ValidatingPolicy] });
  if (presence.status !== 'True') return presence;
  const policies = wanted.flatMap(({ metadata }) => owned.get(ValidatingPolicy, metadata.name) ?? []);
  const told = policies.flatMap(({ metadata, status }) => {
    const { ready, message, conditions = [] } = status?.conditionStatus ?? {};
    if (ready === undefined) return [];
    const because = message || conditions.find(({ status }) => status !== 'True')?.message || 'no reason given';
    return [{ name: metadata.name, isReady: ready, because }];
  });
  const numbers = { ready: told.filter(({ isReady }) => isReady).length, desired: policies.length };
  const doing = mode === 'Enforce' ? 'enforcing' : 'auditing';
  const refused = told.filter(({ isReady }) => !isReady).map(({ name, because }) => `${name}: ${because}`);
  if (refused.length > 0) {
    const message = `${title} ${doing} ${numbers.ready}/${numbers.desired} policies; ${refused.join('; ')}`;
    return { status: 'False', reason: 'PolicyNotReady', message: shorten(message, LONGEST_MESSAGE), ...numbers };
  }
  const silent = policies.length - told.length;
  const message =
    told.length === 0
      ? `${title}: ${policies.length} policies in place, it has not said anything about them yet`
      : `${title} ${doing} ${numbers.ready}/${numbers.desired} policies${silent > 0 ? `, nothing said about ${silent} yet` : ''}`;
  return { status: 'True', reason: 'Ready', message, ...(told.length === 0 ? {} : numbers) };
}
