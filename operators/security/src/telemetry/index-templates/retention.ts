/**
 * The policies by which old events go, in the store: looked at, and put in place.
 *
 * Invariant: a policy is never taken away, and neither is it taken off an index. Who no longer wants one is told how. Where two agents
 * want another number of days for one index, the larger one holds and the other agent is told: they do not write in turn. (One that
 * lowers its own finds the larger one of the other back after the next turn of that.)
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

/** Puts the policies that `retentionDays` asks for in place; `streams` are the data streams that are there. */
export async function placePolicies(
  address: StoreAddress,
  store: Store,
  { wantedBy, streams }: { readonly wantedBy: string; readonly streams: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<Retention> {
  const { kind, indices, retentionDays = {} } = store;
  const { lifecycle } = dialects[kind];
  const wanted = Object.entries(retentionDays) as ['events' | 'inventory', number][];
  if (wanted.length > 0 && !(await hasLifecycles(address, lifecycle, signal)))
    return { retained: {}, remarks: [`the store has no ${lifecycle.title}: nothing is deleted by age`], refusals: [] };
  const retained: Partial<Record<keyof Store['indices'], NamedBody>> = {};
  const remarks: string[] = [];
  const refusals: Refusal[] = [];
  for (const [key, days] of wanted) {
    const index = indices[key];
    const policy = retentionPolicy(kind, index, { days, wantedBy });
    retained[key] = policy;
    const found = await policyOf(address, lifecycle, policy.name, signal);
    const there = found === undefined ? {} : lifecycle.wishIn(found, policy.name);
    const isOfOther = there.wantedBy !== undefined && there.wantedBy !== wantedBy;
    if (isOfOther && there.days !== undefined && there.days >= days) {
      if (there.days > days) remarks.push(longer(index, days, there.days, there.wantedBy));
      continue;
    }
    refusals.push(...(await placePolicy(address, lifecycle, policy, found, signal)));
  }
  for (const [key, index] of Object.entries(indices) as [keyof typeof indices, string][]) {
    if (retained[key] !== undefined || !streams.has(index)) continue;
    const { policy, remark } = await leftOver(address, store, index, wantedBy, signal);
    if (policy !== undefined) retained[key] = policy;
    if (remark !== undefined) remarks.push(remark);
  }
  return { retained, remarks, refusals };
}

function longer(index: string, days: number, there: number, other: string | undefined): string {
  const remedy = `agree on one number, or name another index; if that agent is gone, set ${days}d in the policy ${templateName(index)}`;
  return `${index} goes after ${there} days and not after ${days}, because agent ${other} keeps it longer: ${remedy}`;
}

/** Of a data stream that this agent wants to keep: what another agent wants holds, and what has begun under a policy of before goes by it. */
async function leftOver(
  address: StoreAddress,
  { kind }: Store,
  index: string,
  wantedBy: string,
  signal: AbortSignal,
): Promise<{ readonly policy?: NamedBody; readonly remark?: string }> {
  const { lifecycle } = dialects[kind];
  const name = templateName(index);
  const found = await policyOf(address, lifecycle, name, signal);
  if (found === undefined) return {};
  const { days, wantedBy: other = wantedBy } = lifecycle.wishIn(found, name);
  if (other !== wantedBy)
    return {
      policy: { name, body: found },
      remark: `${index} goes after ${days} days, because agent ${other} wants that`,
    };
  return {
    remark: `${index} still goes by the policy ${name} of before: to keep it, ${lifecycle.remedy(index, name)}`,
  };
}

async function policyOf(store: StoreAddress, lifecycle: Lifecycle, name: string, signal: AbortSignal) {
  const { status, body } = await ask(store, 'GET', lifecycle.pathOf(name), { signal });
  return status === 200 ? jsonOf(body) : undefined;
}

async function hasLifecycles(store: StoreAddress, { question }: Lifecycle, signal: AbortSignal): Promise<boolean> {
  const { status } = await ask(store, 'GET', question, { signal });
  // Whoever may not ask may still be allowed to write policies.
  return status === 200 || status === 403;
}

/**
 * Puts a policy in place; one that is versioned only if it is not as it should be. One that is not is written again although it is the
 * same: Elasticsearch acts with the rights that its writer had then, and takes the same policy for no change otherwise.
 */
async function placePolicy(
  store: StoreAddress,
  lifecycle: Lifecycle,
  policy: NamedBody,
  found: object | undefined,
  signal: AbortSignal,
): Promise<readonly Refusal[]> {
  const path = lifecycle.pathOf(policy.name);
  if (!lifecycle.isVersioned || found === undefined) return place(store, path, policy, lifecycle.privilege, signal);
  const { _seq_no, _primary_term, ...there } = found as { _seq_no: number; _primary_term: number };
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
