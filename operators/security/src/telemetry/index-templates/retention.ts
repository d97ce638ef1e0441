/**
 * The policies by which old events go, in the store: looked at, and put in place.
 *
 * Invariant: a policy is never taken away, and neither is it taken off an index. Who no longer wants one is told how.
 */
import type { Store } from '../../store.ts';
import { dialects, type Lifecycle, type NamedBody } from './dialect.ts';
import { place, type Refusal } from './place.ts';
import { ask, jsonOf, type StoreAddress } from './store.ts';
import { retentionPolicy, templateName } from './templates.ts';

export interface Retention {
  /** The policies that templates are to name, by the key of their index. */
  readonly retained: Readonly<Partial<Record<keyof Store['indices'], NamedBody>>>;
  readonly remarks: readonly string[];
  readonly refusals: readonly Refusal[];
}

/** Puts the policies that `retentionDays` asks for in place. */
export async function placePolicies(address: StoreAddress, store: Store, signal: AbortSignal): Promise<Retention> {
  const { kind, indices, retentionDays = {} } = store;
  const { lifecycle } = dialects[kind];
  const wanted = Object.entries(retentionDays) as ['events' | 'inventory', number][];
  if (wanted.length > 0 && !(await hasLifecycles(address, lifecycle, signal)))
    return { retained: {}, remarks: [`the store has no ${lifecycle.title}: nothing is deleted by age`], refusals: [] };
  const retained: Partial<Record<keyof Store['indices'], NamedBody>> = {};
  const refusals: Refusal[] = [];
  for (const [key, days] of wanted) {
    const policy = retentionPolicy(kind, indices[key], days);
    refusals.push(...(await placePolicy(address, lifecycle, policy, signal)));
    retained[key] = policy;
  }
  return { retained, remarks: [], refusals };
}

/** Of a data stream whose retention is no longer wanted: what has begun under the policy still goes by it. */
export async function leftOver(
  address: StoreAddress,
  lifecycle: Lifecycle,
  index: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const name = templateName(index);
  const { status } = await ask(address, 'GET', lifecycle.pathOf(name), { signal });
  return status === 200
    ? [`${index} still goes by the policy ${name} of before: to keep it, ${lifecycle.remedy(index, name)}`]
    : [];
}

async function hasLifecycles(store: StoreAddress, { question }: Lifecycle, signal: AbortSignal): Promise<boolean> {
  const { status } = await ask(store, 'GET', question, { signal });
  // Whoever may not ask may still be allowed to write policies.
  return status === 200 || status === 403;
}

/** Puts a policy in place; one that is versioned only if it is not as it should be. */
async function placePolicy(store: StoreAddress, lifecycle: Lifecycle, policy: NamedBody, signal: AbortSignal) {
  const path = lifecycle.pathOf(policy.name);
  const found = lifecycle.isVersioned ? await ask(store, 'GET', path, { signal }) : undefined;
  if (found?.status !== 200) return place(store, path, policy, lifecycle.privilege, signal);
  const { _seq_no, _primary_term, ...there } = jsonOf(found.body) as { _seq_no: number; _primary_term: number };
  if (holds(there, policy.body)) return [];
  const seen = `?if_seq_no=${_seq_no}&if_primary_term=${_primary_term}`;
  return place(store, `${path}${seen}`, policy, lifecycle.privilege, signal);
}

/** Whether all that is wanted is there: a store adds fields of its own. */
function holds(there: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return there === wanted;
  if (typeof there !== 'object' || there === null) return false;
  if (Array.isArray(wanted) && (!Array.isArray(there) || there.length !== wanted.length)) return false;
  return Object.entries(wanted).every(([key, value]) => holds((there as Record<string, unknown>)[key], value));
}
