/** Puts one template or policy into the store. */
import type { NamedBody } from './dialect.ts';
import { ask, jsonOf, type StoreAddress, StoreTrouble } from './store.ts';

/** What the store does not take, and its reason. */
export interface Refusal {
  readonly name: string;
  readonly why: string;
}

/** A refusal is of this one and says nothing of others, so it is returned; whatever holds for all of them is thrown. */
export async function place(
  store: StoreAddress,
  path: string,
  { name, body }: NamedBody,
  privilege: string,
  signal: AbortSignal,
): Promise<readonly Refusal[]> {
  const answer = await ask(store, 'PUT', path, { body, signal });
  if (answer.status === 403)
    throw new StoreTrouble(
      'Forbidden',
      `the account of spec.output may not write ${name}: give it the cluster privilege ${privilege}, or install the templates under ` +
        `deploy/ yourself and set ${store.path}.manageTemplates to false`,
    );
  if (answer.status === 200 || answer.status === 201) return [];
  return [{ name, why: `${answer.status} ${reasonOf(answer.body)}`.trimEnd() }];
}

/** All refusals of a run as one trouble; what is refused for one reason is told once. */
export function refused(refusals: readonly Refusal[]): StoreTrouble {
  const byReason = Map.groupBy(refusals, ({ why }) => why);
  const texts = [...byReason].map(([why, ones]) => `${ones.map(({ name }) => name).join(', ')}: ${why}`);
  return new StoreTrouble('Refused', `the store refuses ${texts.join('; ')}`);
}

/** What the store says is wrong, not longer than a person reads. Of anything else that answers, nothing is passed on. */
function reasonOf(body: string): string {
  const { error } = (jsonOf(body) ?? {}) as { error?: { reason?: string; caused_by?: { reason?: string } } };
  return [error?.reason, error?.caused_by?.reason]
    .filter((one) => typeof one === 'string')
    .join(': ')
    .slice(0, 300);
}
